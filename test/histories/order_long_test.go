//go:build long

package histories

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/phase"
	harness "locus/test/cluster"
)

// TestTheOrderMatters hands over all genes while the stream is late, because rows of the target are locked for
// a while. If two lines of the step are swapped, so that the position is read before statements are held, the
// checks must find the loss. With the correct order they find nothing.
func TestTheOrderMatters(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Run("swapped", func(t *testing.T) {
			// The late changes may still arrive before a client reads the rows. That is rare, and does not
			// happen often in a row.
			for range 6 {
				if wrong := late(t, engine, true); len(wrong) > 0 {
					t.Logf("%d things are wrong, such as %s", len(wrong), wrong[0])
					return
				}
			}
			t.Fatal("nothing is found wrong with the position read before the fence")
		})
		t.Run("as it is", func(t *testing.T) {
			for _, what := range late(t, engine, false) {
				t.Error(what)
			}
		})
	})
}

// late makes one step of all genes with a late stream, and returns the errors.
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
	failed := w.cutOrFailed(t)
	c.goOn(t, some)
	c.stop(t)
	wrong = w.check(t, c.record)
	if failed != "" {
		wrong = append(wrong, "the job has failed: "+failed)
	}
	return wrong
}

// cutOrFailed waits until the target has all genes, or the job itself finds that the servers differ. Then it
// returns the reason.
func (w *world) cutOrFailed(t *testing.T) (why string) {
	t.Helper()
	harness.Until(t, "the genes are the target's", func() (bool, error) {
		s, err := w.Jobs.Read(t.Context(), splitting)
		if err != nil {
			return false, err
		}
		why = s.Job.State.Why
		return s.Job.State.Phase == phase.Cut || s.Job.State.Phase == phase.Failed, errors.New(string(s.Job.State.Shown()))
	})
	return why
}

// some is the number of statements after which it is likely that rows were changed, and read, that the step
// loses.
const some = 150

// lateStep reports whether a step was made while the target's rows were locked.
func (w *world) lateStep(t *testing.T, c *run) (handedOver bool) {
	t.Helper()
	for _, p := range w.Proxies {
		p.Tell(strings.Join([]string{"stop", cutover.BeforePosition, cutover.AfterCommit, cutover.BeforeRelease}, " "))
	}
	s, err := w.Jobs.Read(t.Context(), splitting)
	if err != nil {
		t.Fatal(err)
	}
	if s.Job.State.Phase == phase.Ready {
		w.cut(t, splitting, 100, 100)
	}
	mover, point := w.awaitStopAt(t, func() {}, cutover.BeforePosition, cutover.BeforeRelease)
	for point == cutover.BeforeRelease { // the stream was not late
		w.Proxies[mover].Tell("stop " + cutover.BeforePosition + " " + cutover.AfterCommit + " " + cutover.BeforeRelease)
		w.Proxies[mover].Tell("go")
		mover, point = w.awaitStopAt(t, func() {}, cutover.BeforePosition, cutover.BeforeRelease)
	}
	let := w.lock(t)
	defer let()
	c.goOn(t, some)
	w.Proxies[mover].Tell("go")
	_, point = w.awaitStopAt(t, func() {}, cutover.AfterCommit, cutover.BeforeRelease)
	for _, p := range w.Proxies {
		p.Tell("stop nowhere")
	}
	w.Proxies[mover].Tell("go")
	c.goOn(t, some)
	return point == cutover.AfterCommit
}

// lock locks the target's registers against changes until let is called.
func (w *world) lock(t *testing.T) (let func()) {
	t.Helper()
	tx, err := w.Shards[2].DB(t, schema).Begin()
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
		if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
			t.Error(err)
		}
	}
}

// goOn waits until clients have done so many statements more.
func (r *run) goOn(t *testing.T, statements int) {
	t.Helper()
	done := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.statement
	}
	before := done()
	harness.Until(t, "clients go on", func() (bool, error) { return done() >= before+statements, nil })
}
