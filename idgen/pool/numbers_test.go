//go:build servers

package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"locus/idgen/breaker"
	"locus/idgen/redis"
	"locus/idgen/segment"
	"locus/internal/test/distinct"
	"locus/internal/test/link"
	"locus/internal/test/servers"
)

// With one key and with several, no number is returned twice, even if Redis is emptied meanwhile.
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

// The reserve was filled before the durable store failed. After it, no numbers are left.
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

// After a Redis was stopped, killed or cut off, one of two processes fills it as soon as it answers, although
// none requests a number. Then the durable store fails, and both processes continue.
func TestRedisIsFilledWhenItAnswersAgain(t *testing.T) {
	for name, outage := range map[string]struct {
		begin, end func(*servers.Process, *link.Link)
	}{
		"stopped": {func(p *servers.Process, _ *link.Link) { p.Stop() }, func(p *servers.Process, _ *link.Link) { p.Continue() }},
		"cut":     {func(_ *servers.Process, l *link.Link) { l.Lead("") }, func(p *servers.Process, l *link.Link) { l.Lead(p.Addr) }},
		"lossy":   {func(_ *servers.Process, l *link.Link) { l.Swallow() }, func(_ *servers.Process, l *link.Link) { l.Deliver() }},
		"killed": {func(p *servers.Process, _ *link.Link) { p.Kill() }, func(p *servers.Process, _ *link.Link) {
			if err := p.Restart(); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			server, store := servers.Redis(t), &granted{}
			way := link.New(t, server.Addr)
			var all distinct.Numbers
			var pools []*Pool
			for range 2 {
				client := redis.Open(redis.Config{Address: way.Addr(), Timeout: 100 * time.Millisecond})
				defer client.Close()
				p := New(client, store, Options{Fill: 1000, RedisTimeout: 100 * time.Millisecond})
				defer p.Close()
				pools = append(pools, p)
			}
			extend := func(when string) {
				t.Helper()
				for _, p := range pools {
					g, err := p.Extend(t.Context(), "orders", 10)
					if err != nil {
						t.Fatalf("%s: %v", when, err)
					}
					for n := g.First; n <= g.Last; n++ {
						all.Add(t, n)
					}
				}
			}
			extend("in the beginning")
			outage.begin(server, way)
			for range 3 {
				extend("without Redis")
			}
			outage.end(server, way)
			waitFor(t, func() error {
				for _, p := range pools {
					p.mu.Lock()
					recovering := p.recovering
					p.mu.Unlock()
					if recovering {
						return errors.New("a process still waits for Redis")
					}
				}
				return nil
			})
			store.mu.Lock()
			store.err = errors.New("the database is away")
			store.mu.Unlock()
			for range 40 {
				extend("with Redis back and the database away")
			}
		})
	}
}

// With Redis down, numbers come from the durable store, and the circuit breaker of Redis opens.
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

// extender is a pool, or one at each of several servers.
type extender interface {
	Extend(ctx context.Context, name string, n uint64) (segment.Grant, error)
}

// withBreakers runs do with a pool on one server, and with a pool on each of two servers that are cut off
// together. A breaker that has opened stays open for the pause.
func withBreakers(t *testing.T, pause time.Duration, do func(t *testing.T, p extender, store *granted, filled, cut, mend func())) {
	for name, n := range map[string]int{"one server": 1, "two servers": 2} {
		t.Run(name, func(t *testing.T) {
			store, b := &granted{}, breaker.Options{Failures: 1, Pause: pause}
			o := Options{Fill: 1000, RedisTimeout: time.Minute, Redis: b, Store: b}
			var cuts, mends []func()
			var places []Place
			for range n {
				process := servers.Redis(t)
				way := link.New(t, process.Addr)
				server := redis.Open(redis.Config{Address: way.Addr(), Timeout: time.Minute})
				t.Cleanup(func() { _ = server.Close() })
				places = append(places, Place{Redis: server, Name: process.Addr})
				cuts, mends = append(cuts, func() { way.Lead("") }), append(mends, func() { way.Lead(process.Addr) })
			}
			each := func(all []func()) func() {
				return func() {
					for _, do := range all {
						do()
					}
				}
			}
			cut, mend := each(cuts), each(mends)
			if n == 1 {
				p := New(places[0].Redis, store, o)
				defer p.Close()
				do(t, p, store, p.fills.Wait, cut, mend)
				return
			}
			s := NewSpread(places, store, o)
			defer s.Close()
			do(t, s, store, func() {
				for _, p := range s.pools {
					p.fills.Wait()
				}
			}, cut, mend)
		})
	}
}

func (g *granted) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
}

// A server that is not asked for a while because it failed is asked if no other answers, because it may be
// back.
func TestWhoHasFailedIsAskedInTheEnd(t *testing.T) {
	withBreakers(t, time.Hour, func(t *testing.T, p extender, store *granted, filled, cut, mend func()) {
		take := func(name, why string) {
			t.Helper()
			if g, err := p.Extend(t.Context(), name, 10); err != nil {
				t.Errorf("%s: %v, %v", why, g, err)
			}
		}
		take("one", "all is well")
		filled()
		cut()
		take("other", "Redis is away")
		mend()
		store.fail(errors.New("the database is away"))
		take("one", "Redis is back, and the database away")
		_, _ = p.Extend(t.Context(), "another", 10) // which has no pool
		store.fail(nil)
		cut()
		take("other", "the database is back, and Redis away")
	})
}

// While Redis was down, processes got numbers above all that it has. Its numbers are replaced by higher ones,
// which are available when the database is down.
func TestAReserveThatIsOfNoUseGivesWay(t *testing.T) {
	withBreakers(t, time.Nanosecond, func(t *testing.T, p extender, store *granted, filled, cut, mend func()) {
		var last uint64
		take := func(times int) {
			t.Helper()
			for range times {
				g, err := p.Extend(t.Context(), "orders", 10)
				if err == nil {
					err = g.Check(10, last)
				}
				if err != nil {
					t.Fatal(err)
				}
				last = g.Last
			}
		}
		take(3)
		filled()
		cut()
		take(3)
		mend()
		take(30)
		filled()
		store.fail(errors.New("the database is away"))
		take(60)
	})
}
