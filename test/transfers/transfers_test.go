package transfers

import (
	"context"
	"sync"
	"testing"

	"locus/internal/test/process"
	"locus/internal/test/servers"
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
	for _, p := range b.proxies {
		b.start(t, p, "", 0)
	}
	db := client(b.proxies[0].Addr())
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
					p.Kill()
					b.start(t, p, points[j], 5)
					p.Await(t, "at "+points[j])
				}
				p.Kill()
				b.start(t, p, "", 0)
			})
		}
		killing.Wait()
		for i, point := range []string{"after-decision", "before-decision"} {
			b.killServer(t, (round+i)%len(b.servers), b.proxies[(round+i)%len(b.proxies)], point)
		}
	}
	stop()
	c.running.Wait()
	b.settled(t)
	for _, p := range b.proxies {
		p.Kill()
	}
	b.check(t, c.outcomes)
}

// killServer kills a database server while a proxy is at a point of a commit.
func (b *bank) killServer(t *testing.T, server int, p *process.Process, point string) {
	t.Helper()
	p.Kill()
	b.start(t, p, point, 5)
	p.Await(t, "at "+point)
	if err := b.servers[server].Kill(); err != nil {
		t.Fatal(err)
	}
	p.Tell("go")
	b.servers[server].Restart(t)
}
