package etcd

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ErrUnknown is wrapped by the error of a write that may have happened. Read the key again before another write.
var ErrUnknown = errors.New("it is unknown whether it was written")

// Conflict means that a write was refused because a key has changed since the writer read it. Nothing was
// written.
type Conflict struct {
	Key string // the whole key
	// Seen and Found are the revisions of the key's last change, as the writer saw it and as it is. 0 means that the key
	// doesn't exist.
	Seen, Found int64
}

func (c *Conflict) Error() string {
	const remedy = "; nothing was written: read it again, and repeat the command if it still applies"
	switch {
	case c.Seen == 0:
		return fmt.Sprintf("another operator has made %s in the meantime (revision %d)"+remedy, c.Key, c.Found)
	case c.Found == 0:
		return fmt.Sprintf("another operator has deleted %s in the meantime (revision %d was seen)"+remedy, c.Key, c.Seen)
	default:
		return fmt.Sprintf("another operator has changed %s in the meantime (from revision %d to %d)"+remedy, c.Key, c.Seen, c.Found)
	}
}

// notSent marks errors before the request was sent.
type notSent struct{ error }

func (e notSent) Unwrap() error { return e.error }

// writeError adds the known effect of a failed write to its error.
func writeError(err error) error {
	if refused(err) {
		return fmt.Errorf("nothing was written: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}

// refused reports whether an error precedes the write. Timeouts, lost connections and lost leaders may come after it.
func refused(err error) bool {
	if errors.As(err, new(notSent)) {
		return true
	}
	switch codeOf(err) {
	case codes.InvalidArgument, codes.FailedPrecondition, codes.PermissionDenied, codes.Unauthenticated,
		codes.ResourceExhausted, codes.OutOfRange, codes.NotFound, codes.AlreadyExists, codes.Unimplemented:
		return true
	default:
		return false
	}
}

// Away reports whether a read failed because no member answered or there was no leader. The same read may
// succeed later.
func Away(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	code := codeOf(err)
	return code == codes.Unavailable || code == codes.DeadlineExceeded
}

// codeOf returns the error's gRPC code, including that of etcd's own errors.
func codeOf(err error) codes.Code {
	var own interface{ Code() codes.Code }
	if errors.As(err, &own) {
		return own.Code()
	}
	return status.Code(err)
}
