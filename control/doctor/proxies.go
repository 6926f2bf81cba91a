package doctor

import (
	"context"
	"sync"
	"time"

	"locus/control/fleet"
)

// proxies checks the clocks of the proxies, and whether their users can log in.
func (e *examination) proxies(ctx context.Context) {
	var asking sync.WaitGroup
	asking.Go(func() { e.proxyClocks(ctx) })
	asking.Go(func() { e.users(ctx) })
	asking.Wait()
}

func (e *examination) proxyClocks(ctx context.Context) {
	if len(e.cards) == 0 {
		return
	}
	asked := e.Now()
	clocks, err := fleet.Ask[time.Time](ctx, e.KV, fleet.Clock, patience)
	if err != nil {
		return // package overview reports proxies that don't answer
	}
	answered := e.Now()
	for id, at := range clocks.By { // builds from before this question don't answer
		e.clock("proxy "+id, reading{at: at, asked: asked, answered: answered})
	}
}
