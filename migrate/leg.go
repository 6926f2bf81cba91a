package migrate

import (
	"context"
	"sync"
	"time"

	"locus/idgen/gene"
	"locus/router"
)

// leg is the way of rows between the source and one shard: the two servers, the streams between them, and
// what is to be compared again.
type leg struct {
	id    string // that its positions are kept by
	to    router.ShardName
	genes gene.Set

	shards  *shards
	streams *streams
	changed changedRows // since the last comparison began
}

// legs are those of a job: one of a move, one for each shard of an import. One goroutine uses them.
type legs []*leg

// keep has those streams run that the job's state wants, and no others.
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

// conflicts is how many rows the streams have refused.
func (l legs) conflicts() (n int64) {
	for _, one := range l {
		n += one.streams.conflicts()
	}
	return n
}

// lag is how far the streams are behind, forward and back: the one that is furthest.
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

// each does something for every leg side by side, a few at a time, and ends all with the first error.
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

// legsAtOnce bounds the memory of copies and the load of their source.
const legsAtOnce = 4
