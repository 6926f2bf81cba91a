package proxy

import (
	"context"
	"sync"
)

// Follow keeps up with what is declared until ctx ends, and takes no clients: for a
// process that only has to know it.
func (p *Proxy) Follow(ctx context.Context) error {
	var tasks sync.WaitGroup
	tasks.Go(func() { _ = p.live.Run(ctx) })
	tasks.Go(func() { _ = p.pools.Run(ctx) })
	tasks.Wait()
	p.drained.Store(true)
	p.shut(ctx)
	return nil
}
