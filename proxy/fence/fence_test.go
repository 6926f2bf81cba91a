package fence

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/router"
)

// The genes of the tests: the fence holds some of those that move.
var (
	moving = gene.NewSet(gene.Range{First: 0x4000, Last: 0x7fff})
	fenced = gene.NewSet(gene.Range{First: 0x4000, Last: 0x4fff})
)

const (
	resting  gene.Gene = 0x0001
	moves    gene.Gene = 0x5000
	isFenced gene.Gene = 0x4001
)

// versions returns the maps of one step of a move: before it, announced, fenced, and handed over.
func versions(t *testing.T) (quiet, announced, fence, over *router.Map) {
	t.Helper()
	quiet, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	if err != nil {
		t.Fatal(err)
	}
	step := func(m *router.Map, held gene.Set, changes ...router.Change) *router.Map {
		next, err := m.Step([]router.Move{{Job: "1", Genes: moving, From: "s0", To: "s1", Held: held}}, changes...)
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	announced = step(quiet, gene.Set{})
	fence = step(announced, fenced)
	over = step(fence, gene.Set{}, router.Change{Genes: fenced, To: "s1"})
	return quiet, announced, fence, over
}

// snapshot holds the map in force.
type snapshot struct {
	lease int64

	mu      sync.Mutex
	m       *router.Map
	changed chan struct{}
}

func (w *snapshot) publish(m *router.Map) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.m = m
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *snapshot) current() *router.Map {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.m
}

func (w *snapshot) change() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

func newGate(m *router.Map) (*Gate, *snapshot) {
	w := &snapshot{m: m, lease: 1, changed: make(chan struct{})}
	return New(&Config{
		Changed: w.change, Leased: func() int64 { return w.lease }, Hold: 2 * time.Second, Places: make(chan struct{}, 1),
	}, w.current), w
}

// begin enters by the map in force, and admits a statement on genes.
func begin(g *Gate, open bool, genes ...gene.Gene) (Admission, error) {
	m := g.current()
	g.Enter(m, open)
	return g.Admit(m, genes, false, open)
}

func TestWhatIsUnderWay(t *testing.T) {
	quiet, announced, fence, _ := versions(t)
	g, w := newGate(quiet)
	if !g.Obeys(9, gene.Set{}) {
		t.Error("nothing is under way")
	}
	_, _ = begin(g, false, isFenced)
	if !g.Obeys(1, gene.Set{}) || g.Obeys(2, gene.Set{}) {
		t.Error("a statement by version 1 is under way")
	}
	g.Rest(true)
	w.publish(announced)
	if g.Obeys(2, gene.Set{}) {
		t.Error("its transaction is under way")
	}
	g.Rest(false)
	if !g.Obeys(2, gene.Set{}) {
		t.Error("it has ended")
	}
	if g.Enter(quiet, false) {
		t.Error("entered by a map that is not in force")
	}
	g.Enter(announced, false)
	if g.Obeys(3, fenced) {
		t.Error("its genes aren't known yet")
	}
	g.ConcernsNone(announced)
	if !g.Obeys(3, fenced) || g.Obeys(3, gene.Set{}) {
		t.Error("it concerns no sharded rows")
	}
	g.Rest(false)
	_, _ = begin(g, false, moves)
	if !g.Obeys(3, fenced) || g.Obeys(3, moving) {
		t.Error("it concerns another gene than the fence holds")
	}
	g.Enter(announced, true)
	g.Rest(true)
	if !g.Obeys(3, fenced) {
		t.Error("a statement that failed before its genes were known has ended")
	}
	_, _ = begin(g, true, isFenced)
	w.publish(fence)
	g.Enter(fence, true)
	if g.Obeys(3, fenced) {
		t.Error("its transaction has a gene that is held")
	}
}

// A transaction with more genes than the gate can record counts as one with all genes.
func TestManyGenesAreAll(t *testing.T) {
	_, announced, _, _ := versions(t)
	g, _ := newGate(announced)
	for i := range gene.Gene(mostConcerned + 1) {
		if !g.Obeys(3, fenced) {
			t.Errorf("after %d genes", i)
		}
		_, _ = begin(g, true, moves+i)
		_, _ = begin(g, true, moves+i)
	}
	if g.Obeys(3, fenced) {
		t.Error("it has forgotten some")
	}
	g.Enter(announced, true)
	if g.Rest(true); g.Obeys(3, fenced) {
		t.Error("a statement that failed is no reason to forget others")
	}
	g.Rest(false)
	_, _ = begin(g, false, moves)
	if !g.Obeys(3, fenced) {
		t.Error("what has ended is remembered")
	}
}

func TestWhatIsAdmitted(t *testing.T) {
	quiet, announced, fence, _ := versions(t)
	for name, test := range map[string]struct {
		m     *router.Map
		genes []gene.Gene
		all   bool
		lease int64
		want  error
		moves bool
	}{
		"nothing moves":     {m: quiet, genes: []gene.Gene{isFenced}},
		"another gene":      {m: fence, genes: []gene.Gene{resting}},
		"a moving gene":     {m: announced, genes: []gene.Gene{resting, isFenced}, lease: 1, moves: true},
		"all genes":         {m: announced, all: true, lease: 1, moves: true},
		"without a lease":   {m: announced, genes: []gene.Gene{moves}, want: errUnleased, moves: true},
		"a moving gene yet": {m: fence, genes: []gene.Gene{moves}, lease: 1, moves: true},
		"a held gene":       {m: fence, genes: []gene.Gene{isFenced}, lease: 1, want: errHeld, moves: true},
		"all, with a fence": {m: fence, all: true, lease: 1, want: errHeld, moves: true},
	} {
		g, w := newGate(test.m)
		w.lease = test.lease
		g.Enter(test.m, false)
		a, err := g.Admit(test.m, test.genes, test.all, false)
		if err != test.want && (test.want != nil || err != nil) || a.Moving != test.moves { //nolint:errorlint // they are never wrapped
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if err == nil && g.StillLeased(a) != nil {
			t.Errorf("%s: it has its lease", name)
		}
		if w.lease++; err == nil && (g.StillLeased(a) != nil) != test.moves {
			t.Errorf("%s: it has another lease", name)
		}
	}
	g, w := newGate(announced)
	g.Enter(announced, false)
	w.publish(fence)
	if _, err := g.Admit(announced, []gene.Gene{moves}, false, false); err != errOutdated { //nolint:errorlint // it is never wrapped
		t.Errorf("by a map that is not in force: %v", err)
	}
}

// Only a transaction that used fenced genes before the fence may continue to its end.
func TestWhomTheFenceWaitsFor(t *testing.T) {
	_, announced, fence, _ := versions(t)
	for _, test := range []struct {
		first gene.Gene
		open  bool
		want  error
	}{{isFenced, true, nil}, {isFenced, false, errHeld}, {moves, true, errHeld}} {
		g, w := newGate(announced)
		if _, err := begin(g, false, test.first); err != nil {
			t.Fatal(err)
		}
		g.Rest(test.open)
		w.publish(fence)
		if _, err := begin(g, test.open, isFenced); err != test.want && (test.want != nil || err != nil) { //nolint:errorlint // it is never wrapped
			t.Errorf("%+v: %v", test, err)
		}
	}
}

func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, announced, fence, over := versions(t)
		g, w := newGate(announced)
		_, _ = begin(g, false, moves)
		g.Rest(true)
		w.publish(fence)
		_, err := begin(g, true, isFenced)
		held, ok := err.(*HeldError) //nolint:errorlint // it is never wrapped
		if !ok || held.Error() == "" {
			t.Fatal(err)
		}
		hold, there := g.Hold()
		if _, more := g.Hold(); !there || more {
			t.Errorf("there is one place: %t, %t", there, more)
		}
		if err := hold.Wait(t.Context(), announced, held, true); err != nil {
			t.Errorf("another map is in force already: %v", err)
		}
		go func() {
			synctest.Wait()
			if !g.Obeys(3, fenced) || g.Obeys(3, moving) {
				t.Error("nothing but its transaction goes on while it is held")
			}
			w.publish(over)
		}()
		if err := hold.Wait(t.Context(), fence, held, true); err != nil {
			t.Errorf("the fence is gone: %v", err)
		}
		began := time.Now()
		if err := hold.Wait(t.Context(), over, errUnleased, true); err != nil || time.Since(began) != leaseLook {
			t.Errorf("%v after %v: the lease is looked for", err, time.Since(began))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("killed"))
		if err := hold.Wait(ctx, over, held, false); err == nil || err.Error() != "killed" {
			t.Errorf("%v", err)
		}
		if !g.Obeys(4, gene.Set{}) {
			t.Error("nothing goes on while it is held")
		}
		if err := hold.Wait(t.Context(), over, held, false); err != ErrTooLong || time.Since(began) != hold.Limit() { //nolint:errorlint // it is never wrapped
			t.Errorf("%v after %v: the limit is that of all waits", err, time.Since(began))
		}
		hold.End()
		if hold, there = g.Hold(); !there {
			t.Error("the place was not given back")
		}
		hold.End()
	})
}

func TestPreempt(t *testing.T) {
	_, announced, fence, _ := versions(t)
	g, w := newGate(announced)
	if g.Preempt(3, fenced) || g.Preempted(true) {
		t.Error("there is nothing to give way with")
	}
	_, _ = begin(g, false, isFenced)
	g.Rest(true)
	w.publish(fence)
	for range 2 {
		if !g.Preempt(3, fenced) {
			t.Error("its transaction is under way")
		}
	}
	if g.Preempted(false) || g.Preempted(true) {
		t.Error("its transaction has ended by itself, and that is found out once")
	}
	if !g.Preempt(3, fenced) || !g.Preempted(true) || g.Preempted(true) {
		t.Error("it is to give way, once")
	}
	if g.RolledBack(); !g.Obeys(3, fenced) || !g.TakeUnreported() || g.TakeUnreported() {
		t.Error("it gave way, and the client is told once")
	}
	g.NoteReported()
	if g.Preempted(false) || !g.Preempted(true) {
		t.Error("what the client was told is not so")
	}
	if g.RolledBack(); g.TakeUnreported() || g.Preempted(true) {
		t.Error("the client was told")
	}
	g.NoteReported()
	g.Rest(true)
	if g.Preempted(true) {
		t.Error("that was the command before")
	}
	if g.RolledBack(); !g.TakeUnreported() {
		t.Error("the client is not told")
	}
}

// plain is so plain that it can't be wrong: each statement under way or of the transaction, with its version and genes.
type plain []struct {
	version int64
	genes   []gene.Gene
	unknown bool
}

func (p plain) obeys(version int64, held gene.Set) bool {
	for i, one := range p {
		if oldest := p[0].version; oldest >= version {
			return true
		}
		if held.Empty() || one.unknown {
			return false
		}
		for _, g := range p[i].genes {
			if held.Contains(g) {
				return false
			}
		}
	}
	return true
}

// If the gate reports that a fence is obeyed, it is, whatever statements were running before. The gate may fail
// to report it.
func TestObeysNeverTooMuch(t *testing.T) {
	_, announced, _, _ := versions(t)
	rapid.Check(t, func(r *rapid.T) {
		g, _ := newGate(announced)
		var p plain
		for range rapid.IntRange(1, 12).Draw(r, "statements") {
			open := len(p) > 0
			one := append(p[:len(p):len(p)], plain{{version: announced.Version(), unknown: true}}...)
			g.Enter(announced, open)
			check := func(p plain) {
				for _, held := range []gene.Set{{}, fenced, moving} {
					for version := int64(2); version < 4; version++ {
						if g.Obeys(version, held) && !p.obeys(version, held) {
							r.Fatalf("version %d, genes %v: %v", version, held, p)
						}
					}
				}
			}
			check(one)
			if rapid.Bool().Draw(r, "admitted") {
				genes := rapid.SliceOfN(rapid.SampledFrom([]gene.Gene{resting, moves, moves + 1, moves + 2, isFenced}), 1, 3).Draw(r, "genes")
				_, _ = g.Admit(announced, genes, false, open)
				one[len(one)-1].unknown, one[len(one)-1].genes = false, genes
				check(one)
				p = one
			}
			if !rapid.Bool().Draw(r, "stays") {
				p = nil
			}
			g.Rest(len(p) > 0)
			check(p)
		}
	})
}
