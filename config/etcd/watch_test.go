package etcd_test

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
)

// patience bounds the wait for expected events. Only a failing test uses all of it.
const patience = 30 * time.Second

func TestChangesTellsOfEveryKindOfChange(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	start := commit(t, kv, nil, etcd.Put("before", nil))
	changes := kv.Changes(t.Context(), start)
	for _, write := range []etcd.Write{etcd.Put("a", nil), etcd.Put("a", nil), etcd.Delete("a")} {
		await(t, changes, commit(t, kv, nil, write))
	}
}

func TestChangesBeginsAfterTheRevision(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	start := commit(t, kv, nil, etcd.Put("a", nil))
	missed := commit(t, kv, nil, etcd.Put("b", nil))
	await(t, kv.Changes(t.Context(), start), missed)
}

func TestChangesLeavesOtherPrefixesAlone(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	changes := kv.Under("mine/").Changes(t.Context(), commit(t, kv, nil, etcd.Put("mine/a", nil)))
	commit(t, kv, nil, etcd.Put("mine", nil))
	commit(t, kv, nil, etcd.Put("other/a", nil))
	last := commit(t, kv, nil, etcd.Put("mine/b", nil))
	if got := next(t, changes); got != last {
		t.Errorf("told of %d, which isn't %d", got, last)
	}
}

func TestChangesEndsWithTheContext(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	changes := kv.Changes(ctx, 0)
	cancel()
	for range changes { // until it is closed
	}
}

// No reader receives for a while, so only the last number is delivered.
func TestChangesCoalesces(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	changes := kv.Changes(t.Context(), commit(t, kv, nil, etcd.Put("a", nil)))
	var last int64
	for range 100 {
		last = commit(t, kv, nil, etcd.Put("a", nil))
	}
	await(t, changes, last)
	select {
	case again := <-changes:
		t.Errorf("%d after the last, %d", again, last)
	default:
	}
}

func TestChangesSurvivesCompaction(t *testing.T) {
	t.Parallel()
	s := server(t)
	kv := open(t, etcd.Config{Endpoints: []string{s.Endpoint()}}).Under("p/")
	start := commit(t, kv, nil, etcd.Put("a", nil))
	forgotten := commit(t, kv, nil, etcd.Put("a", nil))
	compacted := commit(t, kv, nil, etcd.Put("a", nil))
	if _, err := raw(t, clientv3.Config{Endpoints: []string{s.Endpoint()}}).Compact(t.Context(), compacted+0); err != nil {
		t.Fatal(err)
	}
	changes := kv.Changes(t.Context(), start)
	await(t, changes, forgotten)
	await(t, changes, compacted)
	await(t, changes, commit(t, kv, nil, etcd.Put("a", nil)))
}

func TestChangesSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := run(t, embedded.Config{Dir: dir})
	kv := open(t, etcd.Config{Endpoints: []string{s.Endpoint()}}).Under("p/")
	changes := kv.Changes(t.Context(), commit(t, kv, nil, etcd.Put("a", nil)))
	await(t, changes, commit(t, kv, nil, etcd.Put("a", nil)))
	s = restart(t, s, dir)
	defer s.Close()
	await(t, changes, commit(t, kv, nil, etcd.Put("a", nil)))
}

// The history is compacted while the watch is cut off, because the server runs on another port meanwhile.
func TestChangesSurvivesCompactionWhileCutOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := run(t, embedded.Config{Dir: dir})
	port := portOf(t, s)
	kv := open(t, etcd.Config{Endpoints: []string{s.Endpoint()}}).Under("p/")
	changes := kv.Changes(t.Context(), commit(t, kv, nil, etcd.Put("a", nil)))
	await(t, changes, commit(t, kv, nil, etcd.Put("a", nil)))

	closeServer(t, s)
	s = run(t, embedded.Config{Dir: dir})
	elsewhere := open(t, etcd.Config{Endpoints: []string{s.Endpoint()}}).Under("")
	commit(t, elsewhere, nil, etcd.Put("p/a", nil))
	last := commit(t, elsewhere, nil, etcd.Delete("p/a"))
	after := commit(t, elsewhere, nil, etcd.Put("not watched", nil))
	if _, err := raw(t, clientv3.Config{Endpoints: []string{s.Endpoint()}}).Compact(t.Context(), after); err != nil {
		t.Fatal(err)
	}
	closeServer(t, s)

	defer closeServer(t, run(t, embedded.Config{Dir: dir, Port: port}))
	await(t, changes, last)
	await(t, changes, commit(t, kv, nil, etcd.Put("a", nil)))
}

// await reads until the channel delivers the revision.
func await(t *testing.T, changes <-chan int64, revision int64) {
	t.Helper()
	for next(t, changes) < revision {
	}
}

func next(t *testing.T, changes <-chan int64) int64 {
	t.Helper()
	select {
	case revision, ok := <-changes:
		if !ok {
			t.Fatal("the watch has ended")
		}
		return revision
	case <-time.After(patience):
		t.Fatal("no change was told of")
		return 0
	}
}
