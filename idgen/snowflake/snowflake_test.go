package snowflake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locus/idgen"
)

// kv is a store in memory that can be made unreachable.
type kv struct {
	mu       sync.Mutex
	values   map[string][]byte
	revision map[string]int64
	next     int64
	away     bool
}

func newKV() *kv { return &kv{values: map[string][]byte{}, revision: map[string]int64{}} }

var errAway = errors.New("etcd is away")

func (k *kv) Get(_ context.Context, key string) ([]byte, int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.away {
		return nil, 0, errAway
	}
	return k.values[key], k.revision[key], nil
}

func (k *kv) CompareAndSwap(_ context.Context, key string, revision int64, value []byte) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.away {
		return false, errAway
	}
	if k.revision[key] != revision {
		return false, nil
	}
	k.next++
	k.values[key], k.revision[key] = value, k.next
	return true, nil
}

// clock can be set.
type clock struct {
	mu  sync.Mutex
	off time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().AddDate(30, 0, 0).Add(c.off) // synctest begins in 2000
}

func (c *clock) set(off time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off = off
}

type process struct {
	*Generator
	*Worker
}

func open(t *testing.T, store KV, dir string, c *clock) (process, error) {
	return openWith(t, store, dir, c, Options{Last: 2})
}

func openWith(t *testing.T, store KV, dir string, c *clock, o Options) (process, error) {
	o.Now = c.now
	g, w, err := Open(t.Context(), store, dir, o)
	return process{g, w}, err
}

// crash ends a process without giving anything back.
func (p *process) crash() error {
	p.Worker.cancel()
	<-p.ended
	return p.Worker.lock.Close()
}

// Processes are restarted, crash, lose their directories and change their settings, and their clocks are set
// back and forth at random. No number is made twice.
func TestNoNumberTwiceWhateverClocksSay(t *testing.T) {
	for name, modes := range map[string][]string{"directory": {"directory"}, "address": {"address"}, "both": {"directory", "address"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testNoNumberTwice(t, modes) })
		})
	}
}

// optionsOf returns settings of a mode for one of three processes.
func optionsOf(mode string, i int) Options {
	o := Options{Last: 2}
	if mode == "address" {
		o.Address, o.Claim = fmt.Sprint("host:", i), MinClaim+rand.N(20*time.Second)
	}
	if rand.IntN(4) == 0 { // one number by hand
		o.First, o.Last, o.One = i, i, true
	}
	return o
}

func testNoNumberTwice(t *testing.T, modes []string) {
	store := newKV()
	seen := map[uint64]bool{}
	made, refused := 0, 0
	var dirs [3]string
	var clocks [3]clock
	var running [3]*process
	for i := range dirs {
		dirs[i] = t.TempDir()
	}
	for range 500 {
		i := rand.IntN(3)
		mode := modes[rand.IntN(len(modes))]
		switch p := running[i]; {
		case p == nil:
			if p, err := openWith(t, store, dirs[i], &clocks[i], optionsOf(mode, i)); err == nil {
				running[i] = &p
			} else {
				refused++
				time.Sleep(2 * time.Second) // virtual
			}
		case rand.IntN(6) == 0:
			end := p.Close
			if rand.IntN(2) == 0 {
				end = p.crash
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			running[i] = nil
		case rand.IntN(3) == 0:
			clocks[i].set(time.Duration(rand.Int64N(int64(4*time.Second))) - 2*time.Second)
		case rand.IntN(30) == 0: // a directory on a new disk
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			running[i] = nil
			if err := os.Remove(filepath.Join(dirs[i], "snowflake.json")); err != nil {
				t.Fatal(err)
			}
			if len(modes) > 1 || mode == "directory" {
				time.Sleep(25 * time.Hour) // virtual: until its claim is over
			}
		default:
			into := make([]uint64, 1+rand.IntN(5000))
			if err := p.Fill(t.Context(), into); err != nil {
				refused++
				continue
			}
			for _, n := range into {
				if seen[n] {
					t.Fatalf("%d twice", n)
				}
				seen[n] = true
			}
			made += len(into)
		}
	}
	for _, p := range running {
		if p != nil {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("%d numbers, %d refused", made, refused)
	if made < 50_000 || refused == 0 {
		t.Error("too little was tested")
	}
}

func TestClockRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		store, dir := newKV(), t.TempDir()
		p, err := open(t, store, dir, &c)
		if err != nil {
			t.Fatal(err)
		}
		first, err := idgen.One(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if at, worker, sequence := Parts(first, Epoch()); worker != p.Worker.Worker() || sequence >= firstBelow || !at.Equal(c.now().UTC().Truncate(time.Millisecond)) {
			t.Errorf("%s, worker %d, sequence %d", at, worker, sequence)
		}
		began := time.Now()
		c.set(-4 * time.Millisecond)
		if _, err := idgen.One(t.Context(), p); err != nil || time.Since(began) < 4*time.Millisecond {
			t.Errorf("4 ms back: %v after %s", err, time.Since(began))
		}
		c.set(-100 * time.Millisecond)
		if _, err := idgen.One(t.Context(), p); !errors.Is(err, ErrClock) {
			t.Errorf("100 ms back: %v", err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		c.set(-time.Minute)
		if _, err := open(t, store, dir, &c); !errors.Is(err, ErrClock) {
			t.Errorf("started a minute behind what was reported: %v", err)
		}
		c.set(0)
		store.away = true // the directory remembers
		p, err = open(t, store, dir, &c)
		if err != nil {
			t.Fatal(err)
		}
		if next, err := idgen.One(t.Context(), p); err != nil || next <= first {
			t.Errorf("after a restart without etcd: %d after %d, %v", next, first, err)
		}
		if _, err := open(t, store, dir, &c); err == nil {
			t.Error("two processes have one directory")
		}
		time.Sleep(25 * time.Hour) // virtual time: beyond the claim that etcd has granted
		if n, err := idgen.One(t.Context(), p); !errors.Is(err, errAway) {
			t.Errorf("past its claim: %d, %v", n, err)
		}
		store.away = false
		if _, err := idgen.One(t.Context(), p); err != nil {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// A process stops using a worker number that another process has taken over.
func TestATakenOverWorkerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		store := newKV()
		slow, err := open(t, store, t.TempDir(), &c)
		if err != nil {
			t.Fatal(err)
		}
		// It is suspended for two days, so that nothing of it runs.
		if err := slow.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(48 * time.Hour) // virtual
		young, err := open(t, store, t.TempDir(), &c)
		if err != nil || young.Worker.Worker() != slow.Worker.Worker() {
			t.Fatalf("worker %d, %v", young.Worker.Worker(), err)
		}
		defer young.Close()
		if n, err := idgen.One(t.Context(), slow); err == nil {
			t.Errorf("the number's old process made %d", n)
		}
		if _, err := idgen.One(t.Context(), young); err != nil {
			t.Error(err)
		}
		for worker := range 3 {
			text, _ := json.Marshal(claim{"somebody", 1 << 40, ""})
			key := claimKey(worker)
			if ok, err := store.CompareAndSwap(t.Context(), key, store.revision[key], text); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if _, err := open(t, store, t.TempDir(), &c); err == nil {
			t.Error("a fourth of three workers started")
		}
	})
}
