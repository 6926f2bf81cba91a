package fleet_test

import (
	"context"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
)

// An order reaches its proxy once; one to an earlier process of that name does not.
func TestOrders(t *testing.T) {
	t.Parallel()
	kv := keys(t)
	send := func(o fleet.Order) {
		t.Helper()
		request(t, kv, "p1", o)
	}
	gone := func() bool {
		_, revision, err := kv.Get(t.Context(), "orders/p1")
		return err == nil && revision == 0
	}
	send(fleet.Evict)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan string, 10)
	ended := make(chan error, 1)
	go func() {
		ended <- fleet.Obey(ctx, kv, "p1", func(o fleet.Order, by string) { got <- string(o) + " by " + by })
	}()
	for !gone() {
		if t.Context().Err() != nil {
			t.Fatal("the old order stays")
		}
	}
	send(fleet.Drain)
	if o := <-got; o != "drain by ann" {
		t.Errorf("the first order is %q", o)
	}
	if !gone() {
		t.Error("the order stays")
	}
	cancel()
	<-ended
	if len(got) > 0 {
		t.Errorf("another order: %s", <-got)
	}
}

// request requests that a process stops.
func request(t *testing.T, kv *etcd.KV, id string, o fleet.Order) {
	t.Helper()
	stops, err := fleet.Stopping(t.Context(), kv)
	if err == nil {
		err = stops.Send(t.Context(), kv, id, o, "ann", time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A process counts as stopping from the request on, also before it has begun to drain.
func TestARequestedProcessIsStopping(t *testing.T) {
	t.Parallel()
	kv := keys(t)
	if stopping, err := fleet.Stopping(t.Context(), kv); err != nil || len(stopping.IDs) != 0 {
		t.Fatalf("%v %v", stopping, err)
	}
	request(t, kv, "p1", fleet.Drain)
	if _, err := kv.Commit(t.Context(), nil, etcd.Delete("orders/p1")); err != nil { // as the process does that reads the request
		t.Fatal(err)
	}
	if stopping, err := fleet.Stopping(t.Context(), kv); err != nil || len(stopping.IDs) != 1 || !stopping.IDs["p1"] {
		t.Errorf("%v %v", stopping, err)
	}
}
