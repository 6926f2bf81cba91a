package events

import (
	"context"
	"testing"
	"time"
)

// TestAnOutageIsRecordedOnce: several processes see an outage. One of them records its beginning and its end, and another one the end
// if the first has ended. An outage that is over at once has no event.
func TestAnOutageIsRecordedOnce(t *testing.T) {
	kv := newKV(t)
	lives := map[string]bool{"a": true, "b": true}
	of := func(name string) *Outages {
		return &Outages{KV: kv, Process: name, Lives: func(_ context.Context, id string) (bool, error) { return lives[id], nil }}
	}
	a, b := of("a"), of("b")
	down := []OpenOutage{{Subject: "s0 at db:1", Check: "servers", What: "it is frozen"}}
	now := noon
	observe := func(o *Outages, open []OpenOutage) {
		t.Helper()
		if err := o.Observe(t.Context(), now, open); err != nil {
			t.Fatal(err)
		}
	}
	recorded := func() (list []Event) {
		t.Helper()
		p, err := Read(t.Context(), kv, Query{Kinds: []Kind{Outage}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Events
	}
	observe(a, down)
	now = now.Add(2 * time.Second)
	observe(a, nil)
	now = now.Add(5 * time.Second)
	observe(a, down)
	observe(b, down)
	if list := recorded(); len(list) != 0 {
		t.Fatalf("a short outage: %+v", list)
	}
	now = now.Add(5 * time.Second)
	down[0].What = "it is away"
	observe(a, down)
	observe(b, down)
	list := recorded()
	if len(list) != 1 || list[0].What != "outage began: it is away" || !list[0].At.Equal(noon.Add(7*time.Second)) || list[0].By != "a" || !list[0].Failed || list[0].Subject != "s0 at db:1" {
		t.Fatalf("%+v", list)
	}
	for range 4 { // b sees the cluster differently
		now = now.Add(10 * time.Second)
		observe(b, nil)
		observe(a, down)
	}
	if list := recorded(); len(list) != 1 {
		t.Fatalf("while it goes on: %+v", list)
	}
	lives["a"] = false
	now = now.Add(10 * time.Second)
	observe(b, nil)
	list = recorded()
	if len(list) != 2 || list[0].What != "outage ended: it is away" || list[0].By != "b" || list[0].Took != 15*time.Second || list[0].Failed {
		t.Fatalf("%+v", list)
	}
	for range 3 {
		now = now.Add(10 * time.Second)
		observe(b, nil)
	}
	if list := recorded(); len(list) != 2 {
		t.Errorf("%+v", list)
	}
}
