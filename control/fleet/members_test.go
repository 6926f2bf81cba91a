package fleet_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/events"
	"locus/control/fleet"
)

// TestTheTimelineHasProcesses lets processes start, stop, vanish and return, below two processes that watch for lost ones.
func TestTheTimelineHasProcesses(t *testing.T) {
	kv := keys(t)
	log := slog.New(slog.DiscardHandler)
	const every = 5 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 10)
	for _, by := range []string{"m1", "m2"} {
		census := &fleet.Census{KV: kv, By: by, Log: log, Every: every, Grace: 4 * every}
		go func() { ended <- census.Run(ctx) }()
	}
	card := func(id string) fleet.Card { return fleet.Card{ID: id, Version: "v1", Started: time.Now()} }
	start := func(id string) (fleet.Membership, func()) {
		t.Helper()
		c := card(id)
		if _, err := kv.Commit(t.Context(), nil, etcd.Put(c.Key(), c.Text())); err != nil {
			t.Fatal(err)
		}
		m := fleet.Membership{KV: kv, Card: c, Log: log, Every: every}
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan struct{})
		go func() { _ = m.Run(ctx); close(running) }()
		return m, func() { stop(); <-running }
	}
	vanish := func(id string) {
		t.Helper()
		if _, err := kv.Commit(t.Context(), nil, etcd.Delete(card(id).Key())); err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	await := func(more ...string) {
		t.Helper()
		want = append(want, more...)
		var got []string
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(every) {
			list, _, err := events.ReadAll(t.Context(), kv, events.Query{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			got = nil
			for _, e := range slices.Backward(list) {
				got = append(got, fmt.Sprintf("%s: %.8s %v", e.Name(), e.What, e.Failed))
			}
			if len(got) >= len(want) {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the timeline is %q, want %q", got, want)
		}
	}
	a, stopA := start("a")
	await("a: started  false")
	_, stopB := start("b")
	await("b: started  false")
	stopA()
	vanish("a")
	a.Leave(t.Context(), time.Time{}, time.Now())
	await("a: stopped false")
	if _, err := kv.Commit(t.Context(), nil, etcd.Delete(fleet.MemberPrefix+"b")); err != nil { // another process that takes it for lost does the same
		t.Fatal(err)
	}
	await("b: is back: false")
	stopB()
	vanish("b")
	await("b: was lost true")
	_, stopC := start("c")
	await("c: started  false")
	stopC()
	request(t, kv, "c", fleet.Drain)
	await("c: was requ false")
	cancel()
	<-ended
	<-ended
	_, before, err := kv.GetPrefix(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 20*every)
	defer cancel()
	_ = (&fleet.Census{KV: kv, By: "m3", Log: log, Every: every, Grace: every}).Run(ctx)
	if _, after, err := kv.GetPrefix(t.Context(), ""); err != nil || after != before {
		t.Errorf("nothing has changed, and etcd was written to: revision %d, then %d, %v", before, after, err)
	}
}
