package fleet_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/router/cluster"
)

// Who has made a definition hears who knows of it, and who doesn't.
func TestRedefined(t *testing.T) {
	kv := keys(t)
	var read [2]atomic.Int64
	reading(t, kv, "a:1", func() bool { read[0].Add(1); return true })
	stop := reading(t, kv, "b:1", func() bool { read[1].Add(1); return true })
	registered(t, kv, 2)
	for n := range int64(3) {
		if err := fleet.TellRedefined(t.Context(), kv, patience); err != nil {
			t.Fatal(err)
		}
		if a, b := read[0].Load(), read[1].Load(); a <= n || b <= n {
			t.Fatalf("after %d definitions the tables were read %d and %d times", n+1, a, b)
		}
	}
	stop()
	reading(t, kv, "c:1", func() bool { return false }) // its shards are away
	silent := kv.Presence(cluster.ProxyPrefix+"d:1", fleet.Card{ID: "d:1"}.Text(), time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = silent.Run(ctx) })
	defer running.Wait()
	defer cancel()
	registered(t, kv, 3)
	err := fleet.TellRedefined(t.Context(), kv, patience)
	if err == nil || !strings.Contains(err.Error(), "c:1") || !strings.Contains(err.Error(), "d:1") || strings.Contains(err.Error(), "a:1") {
		t.Errorf("one can't read and one is silent: %v", err)
	}
}

// reading registers a proxy that reads tables when it is asked to.
func reading(t *testing.T, kv *etcd.KV, id string, read func() bool) (stop func()) {
	t.Helper()
	return answering(t, kv, id, fleet.Redefined, read)
}

// answering registers a proxy that answers one question.
func answering(t *testing.T, kv *etcd.KV, id string, q fleet.Question, answer func() bool) (stop func()) {
	t.Helper()
	card := fleet.Card{ID: id, Answers: true}
	presence := kv.Presence(cluster.ProxyPrefix+id, card.Text(), time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = presence.Run(ctx) })
	a := &fleet.Answerer{
		KV: kv, Presence: presence, ID: id, Log: slog.New(slog.DiscardHandler),
		Values: map[fleet.Question]func() any{q: func() any { return answer() }},
	}
	running.Go(func() { _ = a.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return stop
}

// Who renames a table hears whether everybody has ended what began before.
func TestSettled(t *testing.T) {
	kv := keys(t)
	answering(t, kv, "a:1", fleet.Settled, func() bool { return true })
	registered(t, kv, 1)
	if err := fleet.TellSettled(t.Context(), kv, patience); err != nil {
		t.Fatal(err)
	}
	answering(t, kv, "b:1", fleet.Settled, func() bool { return false })
	registered(t, kv, 2)
	err := fleet.TellSettled(t.Context(), kv, patience)
	if err == nil || !strings.Contains(err.Error(), "from b:1, where a statement may still be under way") {
		t.Errorf("one has a statement under way: %v", err)
	}
}
