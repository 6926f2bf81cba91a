package generators

import "context"

// turn is a mutex with a wait that ends with the caller's context. It may be held during requests to servers.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn. After an error the caller does not have it.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t turn) leave() { <-t }
