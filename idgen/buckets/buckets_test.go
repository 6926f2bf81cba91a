//go:build servers

package buckets

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"locus/idgen"
	"locus/idgen/redis"
	"locus/internal/test/distinct"
	"locus/internal/test/servers"
)

func epochs() idgen.Numbers {
	var n atomic.Uint64
	return idgen.Run{Take: func(_ context.Context, k int) (uint64, error) { return n.Add(uint64(k)) - uint64(k) + 1, nil }}
}

// Two processes with many goroutines, buckets that are full, a server that is
// emptied and one that restarts from its disk: no number twice.
func TestNoNumberTwice(t *testing.T) {
	server := servers.Redis(t, "--appendonly", "yes")
	source := epochs()
	var all distinct.Numbers
	var generators []*Generator
	for range 2 {
		link := redis.Open(redis.Config{Address: server.Addr})
		defer link.Close()
		generators = append(generators, New([]Redis{link}, source, Options{}))
	}
	round := func() {
		before := all.Len()
		var takers sync.WaitGroup
		for i := range 40 {
			takers.Go(func() {
				for n := range 25 {
					into := make([]uint64, 1+n%4)
					if generators[i%2].Fill(context.Background(), into) == nil {
						all.Add(t, into...)
					}
				}
			})
		}
		takers.Wait()
		if all.Len() < before+500 {
			t.Errorf("%d numbers in a round", all.Len()-before)
		}
	}
	round()
	for b := range buckets { // nearly full
		if _, err := server.Do("HSET", "locus:buckets:"+strconv.Itoa(b), "count", strconv.Itoa(1<<counterBits-2)); err != nil {
			t.Fatal(err)
		}
	}
	round()
	if _, err := server.Do("FLUSHALL"); err != nil {
		t.Fatal(err)
	}
	round()
	server.Kill()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	round()
}

// A caller that gives up leaves its lane to the others.
func TestACallerThatGivesUp(t *testing.T) {
	server := servers.Redis(t)
	link := redis.Open(redis.Config{Address: server.Addr})
	defer link.Close()
	g := New([]Redis{link}, epochs(), Options{Lanes: 1})
	var takers sync.WaitGroup
	for i := range 50 {
		takers.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			if i%2 == 0 {
				cancel()
			}
			defer cancel()
			for range 20 {
				_ = g.Fill(ctx, make([]uint64, 1))
			}
		})
	}
	takers.Wait()
	if n, err := idgen.One(t.Context(), g); err != nil || n == 0 {
		t.Errorf("%d, %v", n, err)
	}
}

// A call for more numbers than a bucket has continues with the next buckets.
func TestMoreThanABucket(t *testing.T) {
	link := redis.Open(redis.Config{Address: servers.Redis(t).Addr})
	defer link.Close()
	into := make([]uint64, 1<<counterBits+1)
	if err := New([]Redis{link}, epochs(), Options{}).Fill(t.Context(), into); err != nil {
		t.Fatal(err)
	}
	var all distinct.Numbers
	all.Add(t, into...)
}
