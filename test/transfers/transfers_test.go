package transfers

import (
	"context"
	"sync"
	"testing"

	"locus/test/servers"
)

// points are the places of a commit at which a proxy is killed.
var points = []string{"before-prepare", "after-prepare(0)", "before-decision", "after-decision", "after-commit(0)", "before-forget"}

// TestTransfersAreWholeOrNotAtAll kills each of three proxies at two points of a
// commit, and a server between a decision and its branches' commit.
func TestTransfersAreWholeOrNotAtAll(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) { transfersSurvive(t, engine, 1) })
}

func transfersSurvive(t *testing.T, engine servers.Engine, rounds int) {
	b := open(t, engine)
	for _, p := range b.proxies {
		p.start(t, "", 0)
	}
	db := client(*b.proxies[0].addr.Load())
	defer db.Close()
	b.fill(t, db)
	ctx, stop := context.WithCancel(t.Context())
	c := &clients{bank: b}
	c.start(ctx, 16)
	for round := range rounds {
		var killing sync.WaitGroup
		for i, p := range b.proxies {
			killing.Go(func() {
				for j := i; j < len(points); j += len(b.proxies) {
					p.kill(t)
					p.start(t, points[j], 5)
					p.await(t, "at "+points[j])
				}
				p.kill(t)
				p.start(t, "", 0)
			})
		}
		killing.Wait()
		b.killServer(t, round%len(b.servers), b.proxies[round%len(b.proxies)])
	}
	stop()
	c.running.Wait()
	b.settled(t)
	for _, p := range b.proxies {
		p.kill(t)
	}
	b.check(t, c.outcomes)
}

// killServer kills a database server while a proxy has decided and not yet
// committed the branches.
func (b *bank) killServer(t *testing.T, server int, p *proxyProcess) {
	t.Helper()
	p.kill(t)
	p.start(t, "after-decision", 5)
	p.await(t, "at after-decision")
	if err := b.servers[server].Kill(); err != nil {
		t.Fatal(err)
	}
	p.goOn(t)
	b.servers[server].Restart(t)
}
