package fleet

import (
	"context"
	"time"

	"locus/config/etcd"
)

// lookEvery is the interval between polls in addition to the watch. tryAgain is the pause after a failed poll.
const (
	lookEvery = 30 * time.Second
	tryAgain  = 200 * time.Millisecond
)

// attend calls look at once and after each change of the keys, until ctx ends.
func attend(ctx context.Context, keys *etcd.KV, look func() error) error {
	changes := keys.Changes(ctx, 0)
	for {
		again := time.NewTimer(lookEvery)
		if err := look(); err != nil {
			again.Reset(tryAgain)
		}
		select {
		case _, open := <-changes:
			again.Stop()
			if !open {
				return ctx.Err()
			}
		case <-again.C:
		}
	}
}
