package twophase

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"locus/router"
)

// failing are servers that answer nothing.
type failing struct {
	*fakeServers
	err   error
	asked int
}

func (f *failing) Exec(context.Context, router.ShardName, string) (uint64, error) {
	f.asked++
	return 0, f.err
}

type frozenError struct{ error }

func (frozenError) Frozen() bool { return true }

// A request to a server that doesn't answer is repeated until the time limit. A request to a server that counts as frozen is
// not repeated.
func TestAnOutcomeIsNotInsistedOnWhereTheServerIsFrozen(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		once bool
	}{"away": {errLost, false}, "frozen": {errors.Join(frozenError{errLost}, errLost), true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				servers := &failing{fakeServers: newFakeServers("s0"), err: c.err}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				v, err := (&Coordinator{servers: servers}).Settle(ctx, Name{Home: "s0"})
				if v != Unknown || !errors.Is(err, errLost) {
					t.Errorf("it is %v, %v", v, err)
				}
				if once := servers.asked == 1; once != c.once {
					t.Errorf("it was asked %d times", servers.asked)
				}
			})
		})
	}
}
