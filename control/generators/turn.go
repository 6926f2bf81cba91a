package generators

import "context"

// turn is a mutex that callers wait for no longer than their context. It may be held during requests to servers.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn. After an error the caller doesn't have it.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t turn) leave() { <-t }
