package transfers

import (
	"context"
	"sync"
	"testing"

	"locus/internal/test/servers"
	"locus/test/cluster"
)

// points are the places of a commit at which a proxy is killed.
var points = []string{"before-prepare", "after-prepare(0)", "before-decision", "decided", "after-decision", "after-commit(0)", "before-forget"}

// TestTransfersAreWholeOrNotAtAll kills each of three proxies at two points of a
// commit, and servers around a decision.
func TestTransfersAreWholeOrNotAtAll(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) { transfersSurvive(t, engine, 1) })
}

func transfersSurvive(t *testing.T, engine servers.Engine, rounds int) {
	b := open(t, engine)
	b.StartProxies()
	b.fill(t, b.DB(0))
	ctx, stop := context.WithCancel(t.Context())
	c := &clients{bank: b}
	c.start(ctx, 16)
	for round := range rounds {
		var killing sync.WaitGroup
		for i, p := range b.Proxies {
			killing.Go(func() {
				for j := i; j < len(points); j += len(b.Proxies) {
					killAt(p, points[j])
				}
				p.Kill()
				p.Start()
			})
		}
		killing.Wait()
		for i, point := range []string{"after-decision", "before-decision"} {
			b.killServer((round+i)%len(b.Shards), b.Proxies[(round+i)%len(b.Proxies)], point)
		}
	}
	stop()
	c.running.Wait()
	b.settled(t)
	for _, p := range b.Proxies {
		p.Kill()
	}
	b.check(t, c.outcomes)
}

// killServer kills a database server while a proxy is at a point of a commit.
func (b bank) killServer(server int, p *cluster.Proxy, point string) {
	killAt(p, point)
	b.Shards[server].Kill()
	p.Release()
	b.Shards[server].Start()
}
