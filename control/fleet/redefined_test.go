package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/router/catalog"
	"locus/router/cluster"
)

// The process that has made a definition gets an error with the proxies that have not read it.
func TestRedefined(t *testing.T) {
	t.Parallel()
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
	reading(t, kv, "c:1", func() bool { return false }) // its shards are down
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

// reading registers a proxy that reads tables when a definition is announced.
func reading(t *testing.T, kv *etcd.KV, id string, read func() bool) (stop func()) {
	t.Helper()
	return following(t, kv, id, fleet.Redefined, func(catalog.Change) bool { return read() })
}

// following registers a proxy that follows the announcements of one question.
func following(t *testing.T, kv *etcd.KV, id string, q fleet.Question, follow func(catalog.Change) bool) (stop func()) {
	t.Helper()
	card := fleet.Card{ID: id, Answers: true}
	presence := kv.Presence(cluster.ProxyPrefix+id, card.Text(), time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = presence.Run(ctx) })
	f := &fleet.Follower{
		KV: kv, Presence: presence, ID: id, Question: q, Log: slog.New(slog.DiscardHandler),
		Follow: func(_ context.Context, c catalog.Change) error {
			if !follow(c) {
				return errors.New("a shard is down")
			}
			return nil
		},
	}
	running.Go(func() { _ = f.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return stop
}

// The process that renames a table gets an error with the proxies on which earlier statements are still
// running.
func TestSettled(t *testing.T) {
	t.Parallel()
	kv := keys(t)
	announcer := &fleet.Announcer{KV: kv, ID: "x:1"}
	change := catalog.Change{Tables: []catalog.TableName{{Schema: "shop", Name: "a"}}}
	following(t, kv, "a:1", fleet.Settled, func(catalog.Change) bool { return true })
	registered(t, kv, 1)
	if err := announcer.Settled(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	following(t, kv, "b:1", fleet.Settled, func(catalog.Change) bool { return false })
	registered(t, kv, 2)
	err := announcer.Settled(t.Context(), change)
	if err == nil || !strings.Contains(err.Error(), "b:1: one may still be running there") {
		t.Errorf("a statement is running at one proxy: %v", err)
	}
}

// Every proxy reads every change before its definition is acknowledged, however many definitions run at the same time, in one
// process and in several.
func TestDefinitionsAtTheSameTime(t *testing.T) {
	t.Parallel()
	kv := keys(t)
	const proxies, sessions, definitions = 3, 4, 5
	var mu sync.Mutex // of read
	read := [proxies]map[catalog.TableName]bool{}
	for i := range proxies {
		read[i] = map[catalog.TableName]bool{}
		following(t, kv, fmt.Sprintf("p:%d", i), fleet.Redefined, func(c catalog.Change) bool {
			mu.Lock()
			defer mu.Unlock()
			for _, name := range c.Tables {
				read[i][name] = true
			}
			return true
		})
	}
	registered(t, kv, proxies)
	var running sync.WaitGroup
	for i := range proxies {
		announcer := &fleet.Announcer{KV: kv, ID: fmt.Sprintf("p:%d", i)}
		for session := range sessions {
			running.Go(func() {
				for n := range definitions {
					name := catalog.TableName{Schema: fmt.Sprintf("s%d_%d", i, session), Name: fmt.Sprintf("t%d", n)}
					if err := announcer.Redefined(t.Context(), catalog.Change{Tables: []catalog.TableName{name}}); err != nil {
						t.Error(err)
					}
					mu.Lock()
					for reader := range proxies {
						if reader != i && !read[reader][name] {
							t.Errorf("proxy %d has not read %s, which is acknowledged", reader, name)
						}
					}
					mu.Unlock()
				}
			})
		}
	}
	running.Wait()
}
