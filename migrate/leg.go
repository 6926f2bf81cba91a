package migrate

import (
	"context"
	"sync"
	"time"

	"locus/idgen/gene"
	"locus/router"
)

// leg connects the source with one shard: the two servers, the streams between them, and the rows that must be
// compared again.
type leg struct {
	id    string // the name under which its positions are stored
	to    router.ShardName
	genes gene.Set

	shards  *shards
	streams *streams
	changed changedRows // since the last comparison began
}

// legs are the legs of a job: one for a move, one per shard for an import. One goroutine uses them.
type legs []*leg

// keep starts the streams that the job's state requires, and stops the others.
func (l legs) keep(ctx context.Context, of Snapshot) error {
	for _, one := range l {
		if err := one.streams.keep(ctx, of); err != nil {
			return err
		}
	}
	return nil
}

func (l legs) stop() {
	for _, one := range l {
		one.streams.stop()
	}
}

func (l legs) cancelOnFailure(ctx context.Context, waiting *sync.WaitGroup, cancel context.CancelCauseFunc) {
	for _, one := range l {
		one.streams.cancelOnFailure(ctx, waiting, cancel)
	}
}

// conflicts returns the number of rows that the streams have refused.
func (l legs) conflicts() (n int64) {
	for _, one := range l {
		n += one.streams.conflicts()
	}
	return n
}

// lag returns the greatest lag of the forward and of the reverse streams.
func (l legs) lag(now time.Time) (forward, back time.Duration) {
	for _, one := range l {
		if st := one.streams.forward; st != nil {
			forward = max(forward, st.lag(now))
		}
		if st := one.streams.back; st != nil {
			back = max(back, st.lag(now))
		}
	}
	return forward, back
}

// each calls do for the legs concurrently, a few at a time. The first error cancels the others.
func (l legs) each(ctx context.Context, do func(context.Context, *leg) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	places := make(chan struct{}, legsAtOnce)
	var working sync.WaitGroup
	for _, one := range l {
		working.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if ctx.Err() != nil {
				return
			}
			if err := do(ctx, one); err != nil {
				cancel(err)
			}
		})
	}
	working.Wait()
	return context.Cause(ctx)
}

// legsAtOnce bounds the memory of the copies and the load on their source.
const legsAtOnce = 4
