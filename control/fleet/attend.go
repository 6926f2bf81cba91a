package fleet

import (
	"context"
	"time"

	"locus/config/etcd"
)

// lookEvery is how often is looked beside being told of changes, and tryAgain how
// soon after a look that failed.
const (
	lookEvery = 30 * time.Second
	tryAgain  = 200 * time.Millisecond
)

// attend looks now, and whenever keys change, until ctx ends.
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
