//go:build servers

package buckets

import (
	"context"
	"sync"
	"testing"
	"time"

	"locus/idgen/breaker"
	"locus/idgen/redis"
	"locus/internal/test/distinct"
	"locus/internal/test/servers"
)

// With buckets on three servers, of which one is killed and another is stopped, no number is returned twice and
// no request fails.
func TestBucketsInSeveralServers(t *testing.T) {
	processes := []*servers.Process{servers.Redis(t), servers.Redis(t), servers.Redis(t)}
	source := epochs()
	var all distinct.Numbers
	var generators []*Generator
	for range 2 {
		var links []Redis
		for _, p := range processes {
			link := redis.Open(redis.Config{Address: p.Addr, Timeout: 100 * time.Millisecond})
			defer link.Close()
			links = append(links, link)
		}
		generators = append(generators, New(links, source, Options{Timeout: 100 * time.Millisecond, Breaker: breaker.Options{Pause: 100 * time.Millisecond}}))
	}
	round := func() {
		t.Helper()
		var takers sync.WaitGroup
		for i := range 10 {
			takers.Go(func() { all.Take(t, generators[i%2], 60, 4) })
		}
		takers.Wait()
	}
	round()
	processes[0].Kill()
	round()
	if states := generators[0].Servers(); states[0] == breaker.Closed || states[2] != breaker.Closed {
		t.Errorf("breakers are %v with the first server gone", states)
	}
	processes[1].Stop()
	round()
	processes[1].Continue()
	if err := processes[0].Restart(); err != nil {
		t.Fatal(err)
	}
	round()
	for _, p := range processes {
		p.Kill()
	}
	if err := generators[0].Fill(context.Background(), make([]uint64, 1)); err == nil {
		t.Error("numbers of servers that are gone")
	}
}
