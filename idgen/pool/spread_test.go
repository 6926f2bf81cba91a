//go:build servers

package pool

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/idgen/breaker"
	"locus/idgen/redis"
	"locus/idgen/segment"
	"locus/internal/test/distinct"
	"locus/internal/test/servers"
)

// spreadOver returns a process's pools on servers.
func spreadOver(t *testing.T, store segment.Store, processes []*servers.Process, o Options) *Spread {
	t.Helper()
	var places []Place
	for _, p := range processes {
		link := redis.Open(redis.Config{Address: p.Addr, Timeout: 100 * time.Millisecond})
		t.Cleanup(func() { _ = link.Close() })
		places = append(places, Place{Redis: link, Name: p.Addr})
	}
	o.RedisTimeout, o.Redis = 100*time.Millisecond, breaker.Options{Failures: 1, Pause: 50 * time.Millisecond}
	s := NewSpread(places, store, o)
	t.Cleanup(s.Close)
	return s
}

// Servers that go one after the other, killed or stopped: no number twice and no
// request that fails, also with the last one gone.
func TestSeveralServersGoOneAfterTheOther(t *testing.T) {
	for name, keys := range map[string]int{"one key": 0, "four keys": 4} {
		t.Run(name, func(t *testing.T) {
			processes := []*servers.Process{servers.Redis(t), servers.Redis(t), servers.Redis(t)}
			store := &granted{}
			var all distinct.Numbers
			one, other := spreadOver(t, store, processes, Options{Keys: keys, Span: 50, Fill: 500}), spreadOver(t, store, processes, Options{Keys: keys, Span: 50, Fill: 500})
			round := func() {
				t.Helper()
				var takers sync.WaitGroup
				for _, s := range []*Spread{one, other} {
					numbers := s.Numbers("orders")
					for range 4 {
						takers.Go(func() { all.Take(t, numbers, 30, 5) })
					}
					takers.Go(func() { takeRising(t, s, &all) })
				}
				takers.Wait()
			}
			round()
			processes[0].Kill()
			round()
			processes[1].Stop()
			round()
			processes[1].Continue()
			if err := processes[0].Restart(); err != nil {
				t.Fatal(err)
			}
			processes[2].Kill()
			round()
			processes[1].Kill()
			processes[0].Kill()
			round()
			if states, _ := one.Breakers(); len(states) != 3 || states[0] == breaker.Closed {
				t.Errorf("breakers are %v with all servers gone", states)
			}
		})
	}
}

// takeRising takes runs as segments do, which refuse a run that is not above the last one.
func takeRising(t *testing.T, s *Spread, all *distinct.Numbers) {
	var last uint64
	for range 20 {
		g, err := s.Extend(context.Background(), "orders", 7)
		if err != nil {
			t.Error(err)
			return
		}
		if err := g.Check(7, last); err != nil {
			t.Error(err)
		}
		last = g.Last
		for n := g.First; n <= g.Last; n++ {
			all.Add(t, n)
		}
	}
}

// With one of three servers down, numbers come from the others, and not from the durable store.
func TestTheOthersGiveNumbers(t *testing.T) {
	processes := []*servers.Process{servers.Redis(t), servers.Redis(t), servers.Redis(t)}
	store := &granted{}
	s := spreadOver(t, store, processes, Options{Fill: 10_000})
	numbers, all := s.Numbers("orders"), distinct.Numbers{}
	all.Take(t, numbers, 30, 1)
	for _, p := range s.pools {
		p.fills.Wait() // reserves
	}
	store.mu.Lock()
	before := store.bound
	store.err = errors.New("the database is away")
	store.mu.Unlock()
	processes[1].Kill()
	all.Take(t, numbers, 300, 3)
	store.mu.Lock()
	defer store.mu.Unlock()
	if store.bound != before {
		t.Errorf("the durable store granted %d to %d", before, store.bound)
	}
}

// A server's pool remembers only its own numbers. The process remembers the numbers from all servers.
func TestAStoreThatWentBackIsRefusedByAllServers(t *testing.T) {
	processes := []*servers.Process{servers.Redis(t), servers.Redis(t)}
	store := &granted{}
	s := spreadOver(t, store, processes, Options{Fill: 100})
	var all distinct.Numbers
	all.Take(t, s.Numbers("orders"), 150, 4)
	for _, p := range s.pools {
		p.fills.Wait()
	}
	store.mu.Lock()
	store.bound = 50
	store.mu.Unlock()
	numbers := s.Numbers("orders")
	for {
		into := make([]uint64, 1)
		err := numbers.Fill(t.Context(), into)
		if err == nil { // granted before
			all.Add(t, into...)
			continue
		}
		if !errors.Is(err, segment.ErrWentBack) || !strings.Contains(err.Error(), "raise its bound above every number in use") {
			t.Errorf("the error is %v", err)
		}
		break
	}
}

// With the servers and the durable store down, the error names all of them.
func TestAnErrorNamesWhoIsAway(t *testing.T) {
	processes := []*servers.Process{servers.Redis(t), servers.Redis(t)}
	store := &granted{err: errors.New("the database is away")}
	s := spreadOver(t, store, processes, Options{})
	for _, p := range processes {
		p.Kill()
	}
	_, err := s.Extend(t.Context(), "orders", 1)
	for _, part := range []string{"extend orders by 1", "the database is away", processes[0].Addr, processes[1].Addr} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %v, without %q", err, part)
		}
	}
}
