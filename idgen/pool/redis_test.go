//go:build servers

package pool

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/redis"
	"locus/idgen/segment"
	"locus/internal/test/servers"
)

// The scripts and the state's methods give the same results, whatever the order of the calls.
func TestScriptsAreTheState(t *testing.T) {
	process := servers.Redis(t)
	server := redis.Open(redis.Config{Address: process.Addr})
	defer server.Close()
	pools := 0
	rapid.Check(t, func(t *rapid.T) {
		pools++
		counter := fmt.Sprint("tag ", pools)
		p := New(server, nil, Options{})
		var twin state
		run, granted := "this run", uint64(0)
		steps := rapid.IntRange(1, 30).Draw(t, "steps")
		for range steps {
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0: // late or went back
				if granted == 0 {
					continue
				}
				first := rapid.Uint64Range(1, granted).Draw(t, "first")
				checkFill(t, p, counter, &twin, run, segment.Grant{First: first, Last: first + 5}, 0)
				granted = max(granted, first+5)
			case 1, 2:
				floor := rapid.Uint64Range(0, granted).Draw(t, "floor of a fill")
				first := granted + rapid.Uint64Range(1, 10).Draw(t, "gap")
				granted = first + rapid.Uint64Range(0, 20).Draw(t, "length")
				checkFill(t, p, counter, &twin, run, segment.Grant{First: first, Last: granted}, floor)
			case 3:
				floor := rapid.Uint64Range(0, 1+granted).Draw(t, "floor of a check")
				got, err := p.rest(t.Context(), counter, floor, 0)
				if want := twin.rest(run, floor); err != nil || got != want {
					t.Fatalf("rest above %d: %+v, %v, the state says %+v", floor, got, err, want)
				}
			default:
				r := &request{
					n:     rapid.Uint64Range(1, 8).Draw(t, "n"),
					floor: rapid.Uint64Range(0, 1+granted).Draw(t, "floor") * rapid.Uint64Range(0, 1).Draw(t, "any floor"),
				}
				got, err := p.take(t.Context(), counter, r)
				if err != nil {
					t.Fatal(err)
				}
				got.fill = false
				if want := twin.take(run, r.n, r.floor); got != want {
					t.Fatalf("take %d above %d: %+v, the state says %+v", r.n, r.floor, got, want)
				}
			}
		}
	})
}

func checkFill(t *rapid.T, p *Pool, counter string, twin *state, run string, g segment.Grant, floor uint64) {
	got, err := p.fill(t.Context(), counter, g, floor)
	if err != nil {
		t.Fatal(err)
	}
	want := taken{outcome: twin.fill(run, g, floor)}
	if want.outcome == stale {
		want.high = twin.high
	}
	if got != want {
		t.Fatalf("fill %v: %+v, the state says %+v", g, got, want)
	}
}

// filledPool puts numbers in and takes one, so that a pool with numbers exists.
func filledPool(t *testing.T, p *Pool, from uint64) {
	t.Helper()
	if o, err := p.fill(t.Context(), "orders", segment.Grant{First: from, Last: from + 999}, 0); err != nil || o.outcome != filled {
		t.Fatalf("fill: %+v, %v", o, err)
	}
	if got, err := p.take(t.Context(), "orders", &request{n: 1}); err != nil || got.first != from {
		t.Fatalf("take: %+v, %v", got, err)
	}
}

func wantVoid(t *testing.T, p *Pool, why string) {
	t.Helper()
	if got, err := p.take(t.Context(), "orders", &request{n: 1}); err != nil || got.outcome != void {
		t.Fatalf("%s: take gives %+v, %v, want void", why, got, err)
	}
}

// A Redis that was emptied, restarted from its disk, or promoted has no pool. Neither has a former master after
// it was a replica.
func TestARedisThatForgetsHasNoPool(t *testing.T) {
	process := servers.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	server := redis.Open(redis.Config{Address: process.Addr})
	defer server.Close()
	p := New(server, nil, Options{})

	filledPool(t, p, 1)
	if _, err := process.Do("FLUSHALL"); err != nil {
		t.Fatal(err)
	}
	wantVoid(t, p, "emptied")

	filledPool(t, p, 2001)
	process.Kill()
	if err := process.Restart(); err != nil {
		t.Fatal(err)
	}
	wantVoid(t, p, "restarted from its disk")
	if o, err := p.fill(t.Context(), "orders", segment.Grant{First: 2001, Last: 3000}, 0); err != nil || o.outcome != stale {
		t.Fatalf("what was put in before is put in again: %+v, %v", o, err)
	}
}

func TestAReplicaThatIsPromotedHasNoPool(t *testing.T) {
	old, young := servers.Redis(t), servers.Redis(t)
	oldServer, youngServer := redis.Open(redis.Config{Address: old.Addr}), redis.Open(redis.Config{Address: young.Addr})
	defer oldServer.Close()
	defer youngServer.Close()
	follow(t, young, old)
	p, q := New(oldServer, nil, Options{}), New(youngServer, nil, Options{})
	filledPool(t, p, 1)
	waitFor(t, func() error { return copied(young) })

	wantVoid(t, q, "replica")
	if _, err := q.fill(t.Context(), "orders", segment.Grant{First: 5001, Last: 6000}, 0); !errors.Is(err, errRedis) {
		t.Fatalf("a replica is filled: %v", err)
	}
	promote(t, young)
	wantVoid(t, q, "promoted")

	// Back again: the same process as in the beginning, with the same run ID.
	follow(t, old, young)
	waitFor(t, func() error { return copied(old) })
	promote(t, old)
	wantVoid(t, p, "promoted after it was a replica")
}
