package histories

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/migrate/repair"
	harness "locus/test/cluster"
)

// repairPoints are where the mover is killed while it repairs rows, on each server another one.
var repairPoints = map[servers.Engine]string{servers.MariaDB: repair.Written, servers.MySQL: repair.Committed}

// repaired makes the target's rows differ from the source's, as writes without the log do, and repairs them
// while clients write. The mover is killed between two repairs. Afterwards the move is ready again.
func (w *world) repaired(t *testing.T, point string) {
	t.Helper()
	for _, p := range w.Proxies {
		p.Tell("stop " + point)
	}
	killed := false
	harness.Until(t, "the shards are equal again", func() (bool, error) {
		if !killed {
			killed = w.killRepairing(t, point)
		}
		s, err := w.Jobs.Read(t.Context(), splitting)
		if err != nil {
			return false, err
		}
		switch at := s.Job.State; {
		case at.Phase == phase.Ready && killed:
			return true, nil
		case at.Phase == phase.Ready:
			w.differ(t)
		case at.Phase == phase.Failed && at.Differing == 0:
			w.failed(t, s.Job)
		case at.Phase == phase.Failed && !at.Repairing:
			w.repair(t)
		}
		return false, errors.New(string(s.Job.State.Shown()))
	})
	s, err := w.Jobs.Read(t.Context(), splitting)
	if err != nil || !slices.ContainsFunc(s.Job.Journal, func(e job.Entry) bool { return strings.HasPrefix(e.What, "repaired") }) {
		t.Errorf("the journal tells of no repair: %v", err)
	}
}

// repair repairs the rows with the source's rows.
func (w *world) repair(t *testing.T) {
	t.Helper()
	list, err := w.Jobs.Differences(t.Context(), splitting)
	if err != nil {
		t.Fatal(err)
	}
	order, err := job.MakeEqual(job.TakeSource, list.Rows, "the test")
	if err == nil {
		_, err = w.Jobs.Tell(t.Context(), splitting, order, "the test", time.Now(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// differ creates differences, and lets the comparison find them.
func (w *world) differ(t *testing.T) {
	t.Helper()
	w.Shards[2].Exec(t, "SET SESSION sql_log_bin = 0",
		"DELETE FROM shop.register ORDER BY uid LIMIT 4", "UPDATE shop.account SET balance = balance + 1 ORDER BY uid LIMIT 4",
		"REPLACE INTO shop.journal VALUES (-1, 1, 1, 1, 1), (-2, 1, 1, 1, 2)")
	w.order(t, splitting, func(phase.State) phase.Event { return phase.Event{Kind: phase.Differs} })
}

// killRepairing kills the mover if it is at a point of a row.
func (w *world) killRepairing(t *testing.T, point string) bool {
	t.Helper()
	mover := slices.IndexFunc(w.Proxies, func(p *harness.Proxy) bool { line, _ := p.Said(); return line == "at "+point })
	if mover < 0 {
		return false
	}
	for i, p := range w.Proxies {
		if i != mover {
			p.Tell("stop nowhere")
			p.Tell("go")
		}
	}
	killMover.strike(w, t, mover)()
	return true
}

// equalised creates differences on a server without its log, lets the comparison find them, and repairs each
// row with its owner's, while clients write.
func (w *world) equalised(t *testing.T, server int, plant ...string) {
	t.Helper()
	if !scale.Long() { // this takes several comparisons of all rows; test/moves and test/demo also test repairs
		return
	}
	w.Shards[server].Exec(t, append([]string{"SET SESSION sql_log_bin = 0"}, plant...)...)
	repaired := false
	harness.Until(t, "the servers are equal again", func() (bool, error) {
		s, err := w.Jobs.Read(t.Context(), splitting)
		if err != nil {
			return false, err
		}
		switch at := s.Job.State; {
		case at.Phase == phase.Failed && at.Differing == 0:
			w.failed(t, s.Job)
		case at.Phase == phase.Failed && !at.Repairing:
			w.takeOwners(t)
			repaired = true
		case at.Phase != phase.Failed && at.Verified && repaired:
			return true, nil
		case at.Phase != phase.Failed && at.Verified: // a comparison that had begun before
			w.order(t, splitting, func(phase.State) phase.Event { return phase.Event{Kind: phase.Differs} })
		}
		return false, errors.New(string(s.Job.State.Shown()))
	})
}

// takeOwners repairs rows with the rows of one owner. The other owner's rows are another repair.
func (w *world) takeOwners(t *testing.T) {
	t.Helper()
	list, err := w.Jobs.Differences(t.Context(), splitting)
	if err != nil || len(list.Rows) == 0 {
		t.Fatalf("%d rows are listed; %v", len(list.Rows), err)
	}
	owner := list.Rows[0].Owner
	rows := slices.DeleteFunc(list.Rows, func(d job.Difference) bool { return d.Owner != owner })
	order, err := job.MakeEqual(job.Take(owner), rows, "the test")
	if err == nil {
		_, err = w.Jobs.Tell(t.Context(), splitting, order, "the test", time.Now(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}
