//go:build long

package histories

import (
	"database/sql"
	"testing"
	"time"

	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/test/servers"
)

// TestTheOrderMatters hands all genes over while the stream is late: rows of the
// target are locked for a while. With two lines of the step swapped, so that the
// position is read before anything is held, the checks must find what is lost;
// with the order as it is they find nothing.
func TestTheOrderMatters(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Run("swapped", func(t *testing.T) {
			wrong := late(t, engine, true)
			if len(wrong) == 0 {
				t.Fatal("nothing is found wrong with the position read before the fence")
			}
			t.Logf("%d things are wrong, such as %s", len(wrong), wrong[0])
		})
		t.Run("as it is", func(t *testing.T) {
			for _, what := range late(t, engine, false) {
				t.Error(what)
			}
		})
	})
}

// late makes one step of all genes with a late stream, and gives what is wrong
// then.
func late(t *testing.T, engine servers.Engine, swapped bool) (wrong []string) {
	w := open(t, engine)
	w.swapped = swapped
	w.startProxies(t)
	w.fill(t)
	c := w.clients(t.Context())
	c.start(16)
	w.plan(t, splitting, job.Split, "s0", "s2")
	w.phase(t, splitting, phase.Ready)
	for tries := 1; ; tries++ {
		handedOver := w.lateStep(t, c)
		if handedOver || !swapped {
			break
		}
		if tries == 20 {
			t.Fatal("no step comes to its end in time")
		}
	}
	w.phase(t, splitting, phase.Cut)
	c.go50(t)
	c.stop(t)
	return w.check(t, c.record)
}

// lateStep tells whether a step was taken while the target's rows were locked.
func (w *world) lateStep(t *testing.T, c *run) (handedOver bool) {
	t.Helper()
	for _, p := range w.proxies {
		p.tell("stop " + cutover.BeforePosition)
	}
	s, err := w.store.Read(t.Context(), splitting)
	if err != nil {
		t.Fatal(err)
	}
	if s.Job.State.Phase == phase.Ready {
		w.cut(t, splitting, 100, 100)
	}
	mover := w.awaitStop(t, cutover.BeforePosition)
	let := w.lock(t)
	c.go50(t)
	w.proxies[mover].tell("go")
	w.ended(t)
	if s, err = w.store.Read(t.Context(), splitting); err != nil {
		t.Fatal(err)
	}
	c.go50(t)
	let()
	return s.Job.State.Cut > 0
}

// lock has the target's registers locked for whoever would change them, until the
// function is called.
func (w *world) lock(t *testing.T) (let func()) {
	t.Helper()
	tx, err := w.servers[2].DB(t, schema).Begin()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query("SELECT uid FROM register FOR UPDATE")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil && err != sql.ErrTxDone {
			t.Error(err)
		}
	}
}

// go50 waits until clients have done fifty statements more.
func (r *run) go50(t *testing.T) {
	t.Helper()
	done := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.statement
	}
	before := done()
	until(t, "clients go on", func() (bool, error) { return done() >= before+50, nil })
}

// ended waits until the step under way has handed the genes over, or given up.
func (w *world) ended(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		if _, m := w.routes(t); m.Held().Empty() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the step does not end")
		}
	}
}
