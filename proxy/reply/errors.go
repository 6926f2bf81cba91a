package reply

import "errors"

// GoneError is a write to the client that failed: the session ends.
type GoneError struct{ Err error }

func (e *GoneError) Error() string { return "write to client: " + e.Err.Error() }
func (e *GoneError) Unwrap() error { return e.Err }

// PartialError is a shard that was lost after a part of its answer had reached the client, who can only be told by closing the
// connection.
type PartialError struct{ Err error }

func (e *PartialError) Error() string { return "in the middle of an answer: " + e.Err.Error() }
func (e *PartialError) Unwrap() error { return e.Err }

// ErrNoFile is a shard that has asked for a file of a client who may not send any. The answer was read whole.
var ErrNoFile = errors.New("the client may not send files")
