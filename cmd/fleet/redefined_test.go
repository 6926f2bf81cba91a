package fleet_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"locus/cmd/fleet"
)

// Every proxy hears of a definition, each time.
func TestRedefined(t *testing.T) {
	kv := keys(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	var heard []chan struct{}
	for range 2 {
		told := make(chan struct{}, 100)
		heard = append(heard, told)
		r := &fleet.Redefined{KV: kv, Reread: func() { told <- struct{}{} }}
		running.Go(func() { _ = r.Run(ctx) })
	}
	for range 3 {
		if err := fleet.TellRedefined(ctx, kv, "a:3306"); err != nil {
			t.Fatal(err)
		}
		for _, told := range heard {
			select {
			case <-told:
			case <-time.After(time.Minute):
				t.Fatal("a proxy wasn't told")
			}
		}
	}
}
