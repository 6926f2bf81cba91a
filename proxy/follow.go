package proxy

import (
	"context"
	"sync"
)

// Follow keeps the declared cluster up to date until ctx ends, and accepts no clients. It is for a process that only reads the
// cluster.
func (p *Proxy) Follow(ctx context.Context) error {
	var tasks sync.WaitGroup
	tasks.Go(func() { _ = p.live.Run(ctx) })
	tasks.Go(func() { _ = p.pools.Run(ctx) })
	tasks.Wait()
	p.drained.Store(true)
	p.shut(ctx)
	return nil
}
