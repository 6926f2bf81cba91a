//go:build servers

package memcached

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/idgen/breaker"
	"locus/internal/test/distinct"
	"locus/internal/test/servers"
)

// Two processes over three servers that are killed, restarted and stopped one after
// the other: no number twice, and no request that fails.
func TestSeveralServersGoOneAfterTheOther(t *testing.T) {
	store := &granted{}
	var processes []*servers.Process
	var addresses []string
	for range 3 {
		p := servers.Memcached(t)
		processes, addresses = append(processes, p), append(addresses, p.Addr)
	}
	var all distinct.Numbers
	var generators []*Generator
	for range 2 {
		g := New(addresses, store, "orders", Options{Block: 100, Timeout: 100 * time.Millisecond, Breaker: breaker.Options{Failures: 1, Pause: 50 * time.Millisecond}})
		defer g.Close()
		generators = append(generators, g)
	}
	round := func() {
		t.Helper()
		var takers sync.WaitGroup
		for i := range 6 {
			takers.Go(func() { all.Take(t, generators[i%2], 60, 5) })
		}
		takers.Wait()
	}
	round()
	processes[0].Kill()
	round()
	if states := generators[0].Breakers(); states[0] == breaker.Closed {
		t.Errorf("breakers are %v with the first server gone", states)
	}
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
	err := generators[0].Fill(context.Background(), make([]uint64, 1))
	for _, part := range append(addresses, "memcached orders") {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("with all gone the error is %v, without %q", err, part)
		}
	}
}
