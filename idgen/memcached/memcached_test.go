//go:build servers

package memcached

import (
	"context"
	"sync"
	"testing"

	"locus/idgen/segment"
	"locus/internal/test/distinct"
	"locus/internal/test/servers"
)

// granted is a durable store in memory.
type granted struct {
	mu    sync.Mutex
	bound uint64
}

func (g *granted) Extend(_ context.Context, _ string, n uint64) (segment.Grant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bound += n
	return segment.Grant{First: g.bound - n + 1, Last: g.bound}, nil
}

// Two processes, blocks that are used up, a server that restarts, one that is
// flushed, a block's item that is evicted: no number twice.
func TestNoNumberTwiceWhileTheServerForgets(t *testing.T) {
	server, store := servers.Memcached(t), &granted{}
	var all distinct.Numbers
	var generators []*Generator
	for range 2 {
		g := New([]string{server.Addr}, store, "orders", Options{Block: 50})
		defer g.Close()
		generators = append(generators, g)
	}
	round := func() {
		var takers sync.WaitGroup
		before := all.Len()
		for i := range 6 {
			takers.Go(func() {
				for n := range 60 {
					into := make([]uint64, 1+n%3)
					if generators[i%2].Fill(context.Background(), into) != nil {
						continue // the connection is of the server before
					}
					all.Add(t, into...)
				}
			})
		}
		takers.Wait()
		if n := all.Len() - before; n < 300 {
			t.Errorf("%d numbers in a round", n)
		}
	}
	round()
	server.Kill()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	round()
	if said, err := server.Ask("flush_all\r\n"); err != nil || said != "OK\r\n" {
		t.Fatal(said, err)
	}
	round()
	for _, g := range generators {
		_ = g.places[0].client.Delete(g.places[0].item(g.places[0].current()))
	}
	round()
}

func TestABlockThatIsNonsenseIsNotUsed(t *testing.T) {
	server := servers.Memcached(t)
	g := New([]string{server.Addr}, &granted{}, "orders", Options{Block: 10})
	defer g.Close()
	if said, err := server.Ask("set locus:ids:orders 0 0 5\r\n9-abc\r\n"); err != nil || said != "STORED\r\n" {
		t.Fatal(said, err)
	}
	var into [1]uint64
	if err := g.Fill(t.Context(), into[:]); err != nil || into[0] != 1 {
		t.Errorf("%d, %v", into[0], err)
	}
}

// A call for more numbers than a block has continues with the next blocks, also while other callers take from
// them.
func TestMoreThanABlock(t *testing.T) {
	server, store := servers.Memcached(t), &granted{}
	var all distinct.Numbers
	var takers sync.WaitGroup
	for range 3 {
		g := New([]string{server.Addr}, store, "orders", Options{Block: 40})
		defer g.Close()
		takers.Go(func() { all.Take(t, g, 100, 100) })
	}
	takers.Wait()
}
