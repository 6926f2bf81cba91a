package stamp

import (
	"context"
	"errors"
	"fmt"
)

// NotIssuedError means that a statement was not run, because no number or ID was issued for one of its rows. It
// hides the types of its cause: a generator queries other servers, whose errors are not answers for the client.
// Sentinel errors of the cause can be found by [errors.Is].
type NotIssuedError struct {
	what  string
	cause error
}

func (e *NotIssuedError) Error() string {
	return fmt.Sprintf("%s: %v: no row was inserted", e.what, e.cause)
}

// Is reports whether the cause is the target.
func (e *NotIssuedError) Is(target error) bool { return errors.Is(e.cause, target) }

// notIssued returns the error of a statement that is not run. If the client, or the proxy, ended the statement during the
// wait, the error is the reason for that.
func notIssued(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	return &NotIssuedError{what, err}
}
