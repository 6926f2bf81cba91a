package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"locus/idgen/redis"
	"locus/idgen/segment"
	"locus/test/distinct"
	"locus/test/servers"
)

// granted is a durable store in memory that can be away.
type granted struct {
	mu    sync.Mutex
	bound uint64
	err   error
}

func (g *granted) Extend(_ context.Context, _ string, n uint64) (segment.Grant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return segment.Grant{}, g.err
	}
	g.bound += n
	return segment.Grant{First: g.bound - n + 1, Last: g.bound}, nil
}

// One key and several: no number twice, also when Redis is emptied meanwhile.
func TestNumbersOfOneKeyAndOfSeveral(t *testing.T) {
	for _, keys := range []int{0, 4} {
		t.Run(fmt.Sprint(keys, " keys"), func(t *testing.T) {
			server, store := servers.Redis(t), &granted{}
			var all distinct.Numbers
			var takers sync.WaitGroup
			for range 2 {
				link := redis.Open(redis.Config{Address: server.Addr})
				defer link.Close()
				p := New(link, store, Options{Keys: keys, Span: 50, Fill: 500})
				defer p.Close()
				numbers := p.Numbers("orders")
				for i := range 4 {
					takers.Go(func() {
						for range 5 {
							all.Take(t, numbers, 40, 5)
							if i == 0 {
								if _, err := server.Do("FLUSHALL"); err != nil {
									t.Error(err)
								}
							}
						}
					})
				}
			}
			takers.Wait()
		})
	}
}

// The reserve is there before the durable store is away, and nothing beyond it.
func TestTheReserveAndNoFurther(t *testing.T) {
	server, store := servers.Redis(t), &granted{}
	link := redis.Open(redis.Config{Address: server.Addr})
	defer link.Close()
	p := New(link, store, Options{Fill: 1000})
	defer p.Close()
	if _, err := p.Extend(t.Context(), "orders", 10); err != nil {
		t.Fatal(err)
	}
	p.fills.Wait() // the reserve
	away := errors.New("the database is away")
	store.mu.Lock()
	store.err = away
	granted := store.bound
	store.mu.Unlock()
	var last uint64
	for {
		g, err := p.Extend(t.Context(), "orders", 10)
		if err != nil {
			if !errors.Is(err, away) && !errors.Is(err, ErrAway) {
				t.Error(err)
			}
			break
		}
		last = g.Last
	}
	if granted != 2000 || last != granted {
		t.Errorf("%d numbers were granted and %d handed out", granted, last)
	}
	for range 5 {
		_, _ = p.Extend(t.Context(), "orders", 10)
	}
	if _, durable := p.Breakers(); durable.String() != "open" {
		t.Errorf("the breaker of a database that fails is %s", durable)
	}
	if g, err := p.Extend(t.Context(), "orders", 2_000_000_000_000_000); err == nil {
		t.Errorf("%v", g)
	}
}

// With Redis away numbers come from the durable store, and its breaker opens.
func TestWithoutRedis(t *testing.T) {
	server, store := servers.Redis(t), &granted{}
	link := redis.Open(redis.Config{Address: server.Addr})
	defer link.Close()
	p := New(link, store, Options{})
	defer p.Close()
	server.Kill()
	for want := uint64(1); want <= 50; want += 10 {
		if g, err := p.Extend(t.Context(), "orders", 10); err != nil || g.First != want {
			t.Fatal(g, err)
		}
	}
	if redis, _ := p.Breakers(); redis.String() != "open" {
		t.Errorf("the breaker of Redis is %s", redis)
	}
}
