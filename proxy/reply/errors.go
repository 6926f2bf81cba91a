package reply

import "errors"

// GoneError means that a write to the client failed. The session ends.
type GoneError struct{ Err error }

func (e *GoneError) Error() string { return "write to client: " + e.Err.Error() }
func (e *GoneError) Unwrap() error { return e.Err }

// PartialError means that a shard was lost after part of its answer had reached the client. Only closing the connection can then notify the
// client.
type PartialError struct{ Err error }

func (e *PartialError) Error() string { return "in the middle of an answer: " + e.Err.Error() }
func (e *PartialError) Unwrap() error { return e.Err }

// ErrNoFile means that a shard requested a file from a client that may not send files. The answer was read whole.
var ErrNoFile = errors.New("the client may not send files")
