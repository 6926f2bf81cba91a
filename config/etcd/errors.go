package etcd

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ErrUnknown is in the error of a write that may or may not have happened. Read
// the key back before you write again.
var ErrUnknown = errors.New("it is unknown whether it was written")

// Conflict is the error of a write that was refused because a key isn't as the
// writer has seen it. Nothing was written.
type Conflict struct {
	Key string // the whole key
	// The revision of the key's last change, as the writer has seen it and as it
	// is. 0: the key isn't there.
	Seen, Found int64
}

func (c *Conflict) Error() string {
	const remedy = "; nothing was written: look at it again and decide anew"
	switch {
	case c.Seen == 0:
		return fmt.Sprintf("another operator has made %s in the meantime (revision %d)"+remedy, c.Key, c.Found)
	case c.Found == 0:
		return fmt.Sprintf("another operator has deleted %s in the meantime (revision %d was seen)"+remedy, c.Key, c.Seen)
	default:
		return fmt.Sprintf("another operator has changed %s in the meantime (from revision %d to %d)"+remedy, c.Key, c.Seen, c.Found)
	}
}

// notSent marks errors before the request left.
type notSent struct{ error }

func (e notSent) Unwrap() error { return e.error }

// writeError says what is known of a failed write.
func writeError(err error) error {
	if refused(err) {
		return fmt.Errorf("nothing was written: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}

// refused tells the errors that come before a write from those that may come
// after it: time-outs, lost connections, lost leaders.
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

// Away tells whether an error of a read is that nobody answered, or that there was no leader: the same read may succeed later.
func Away(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	code := codeOf(err)
	return code == codes.Unavailable || code == codes.DeadlineExceeded
}

// codeOf is the error's gRPC code, which etcd's own errors carry in their own way.
func codeOf(err error) codes.Code {
	var own interface{ Code() codes.Code }
	if errors.As(err, &own) {
		return own.Code()
	}
	return status.Code(err)
}
