package etcd_test

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
)

func TestRegisterHoldsTheKeyUntilTheEnd(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	stop := register(t, kv.Presence("me", []byte("here"), time.Minute))
	changes := kv.Changes(t.Context(), 0)
	awaitValue(t, kv, changes, "here")
	stop()
	if value, revision, err := kv.Get(t.Context(), "me"); revision != 0 || err != nil {
		t.Errorf("left behind: %q, %v", value, err)
	}
}

func TestRegisterTwoProcesses(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	changes := kv.Changes(t.Context(), 0)
	stop := register(t, kv.Presence("me", []byte("one"), time.Minute))
	awaitValue(t, kv, changes, "one")
	defer register(t, kv.Presence("me", []byte("two"), time.Minute))()
	awaitValue(t, kv, changes, "two")
	stop() // the key is no longer its own
	if value, _, err := kv.Get(t.Context(), "me"); string(value) != "two" || err != nil {
		t.Errorf("%q, %v", value, err)
	}
}

func TestPresenceSet(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	p := kv.Presence("me", []byte("0"), time.Minute)
	p.Set([]byte("1")) // before Run
	changes := kv.Changes(t.Context(), 0)
	defer register(t, p)()
	awaitValue(t, kv, changes, "1")
	for _, value := range []string{"2", "3", "4"} {
		p.Set([]byte(value))
	}
	awaitValue(t, kv, changes, "4")
}

func TestRegisterSurvivesTheLossOfItsLease(t *testing.T) {
	t.Parallel()
	s := server(t)
	kv := open(t, etcd.Config{Endpoints: []string{s.Endpoint()}}).Under("")
	p := kv.Presence("me", []byte("1"), 2*time.Second)
	changes := kv.Changes(t.Context(), 0)
	defer register(t, p)()
	awaitValue(t, kv, changes, "1")
	_, first, err := kv.Get(t.Context(), "me")
	if err != nil {
		t.Fatal(err)
	}
	admin := raw(t, clientv3.Config{Endpoints: []string{s.Endpoint()}})
	leases, err := admin.Leases(t.Context())
	if err != nil || len(leases.Leases) != 1 {
		t.Fatalf("%v, %v", leases, err)
	}
	if _, err := admin.Revoke(t.Context(), leases.Leases[0].ID); err != nil {
		t.Fatal(err)
	}
	awaitValue(t, kv, changes, "")
	awaitValue(t, kv, changes, "1")
	if _, second, err := kv.Get(t.Context(), "me"); second <= first || err != nil {
		t.Errorf("revision %d, %v; was %d", second, err, first)
	}
	p.Set([]byte("2")) // on the new lease
	awaitValue(t, kv, changes, "2")
}

// A lease that was given up must end, though the client still runs.
func TestALeaseThatWasGivenUpIsNotKeptAlive(t *testing.T) {
	t.Parallel()
	s := server(t)
	kv := open(t, etcd.Config{Endpoints: []string{s.Endpoint()}}).Under("")
	p := kv.Presence("me", []byte("1"), 2*time.Second)
	changes := kv.Changes(t.Context(), 0)
	defer register(t, p)()
	awaitValue(t, kv, changes, "1")
	p.Set(make([]byte, 9<<20)) // can't be written
	admin := raw(t, clientv3.Config{Endpoints: []string{s.Endpoint()}})
	awaitLeases(t, admin, 2, 1000)
	p.Set([]byte("2"))
	awaitValue(t, kv, changes, "2")
	awaitLeases(t, admin, 1, 1)
}

func awaitLeases(t *testing.T, admin *clientv3.Client, least, most int) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		leases, err := admin.Leases(t.Context())
		if err == nil && least <= len(leases.Leases) && len(leases.Leases) <= most {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not %d to %d leases: %v, %v", least, most, leases, err)
		}
	}
}

func TestRegisterSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := run(t, embedded.Config{Dir: dir})
	kv := open(t, etcd.Config{Endpoints: []string{s.Endpoint()}}).Under("")
	p := kv.Presence("me", []byte("1"), 2*time.Second)
	changes := kv.Changes(t.Context(), 0)
	stop := register(t, p)
	awaitValue(t, kv, changes, "1")
	s = restart(t, s, dir)
	defer s.Close()
	defer stop()
	p.Set([]byte("2"))
	awaitValue(t, kv, changes, "2")
}

// register runs the presence until the returned function is called.
func register(t *testing.T, p *etcd.Presence) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	}
}

// awaitValue reads the key "me" at every change until it has the value; "" is
// its absence.
func awaitValue(t *testing.T, kv *etcd.KV, changes <-chan int64, want string) {
	t.Helper()
	for {
		value, _, err := kv.Get(t.Context(), "me")
		if err == nil && string(value) == want {
			return
		}
		next(t, changes)
	}
}

// Keys written next to a presence disappear with it.
func TestBeside(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	p := kv.Presence("me", []byte("here"), time.Minute)
	if err := p.Beside(t.Context(), "mine", []byte("1")); err == nil {
		t.Error("written before the presence was there")
	}
	changes := kv.Changes(t.Context(), 0)
	stop := register(t, p)
	awaitValue(t, kv, changes, "here")
	for _, value := range []string{"1", "2"} {
		if err := p.Beside(t.Context(), "mine", []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if value, _, err := kv.Get(t.Context(), "mine"); string(value) != "2" || err != nil {
		t.Errorf("%q, %v", value, err)
	}
	stop()
	if _, revision, err := kv.Get(t.Context(), "mine"); revision != 0 || err != nil {
		t.Errorf("left behind, %v", err)
	}
	if err := p.Beside(t.Context(), "mine", []byte("3")); err == nil {
		t.Error("written after the presence had ended")
	}
}
