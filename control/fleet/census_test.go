package fleet

import (
	"log/slog"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/events"
)

// TestALossIsWrittenOnce checks that a process is lost after the grace and not before, and that two processes that find it at the same time write one event.
func TestALossIsWrittenOnce(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := etcd.Open(etcd.Config{Endpoints: []string{server.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	kv := client.Under("/locus/test/")
	m := Membership{KV: kv, Card: Card{ID: "a", Version: "v1"}, Log: slog.New(slog.DiscardHandler)}
	if _, err := m.join(t.Context(), "started"); err != nil {
		t.Fatal(err)
	}
	pairs, _, err := kv.GetPrefix(t.Context(), MemberPrefix)
	if err != nil || len(pairs) != 1 {
		t.Fatal(len(pairs), err)
	}
	want := func(when string, n int) {
		t.Helper()
		if p, err := events.Read(t.Context(), kv, events.Query{}); err != nil || len(p.Events) != n {
			t.Errorf("%s: %d events, want %d: %v", when, len(p.Events), n, err)
		}
	}
	now := time.Now()
	c := &Census{KV: kv, By: "m", Log: m.Log, Grace: time.Minute}
	for _, after := range []time.Duration{0, 30 * time.Second, 59 * time.Second} {
		if err := c.check(t.Context(), now.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	want("within the grace", 1)
	if err := c.check(t.Context(), now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	want("after the grace", 2)
	if err := c.lost(t.Context(), "a", pairs[0], now); err != nil { // another process has read the key before and does the same
		t.Fatal(err)
	}
	want("found by two processes", 2)
}
