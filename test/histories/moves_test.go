package histories

import (
	"errors"
	"testing"
	"time"

	"locus/control/declared"
	"locus/idgen/gene"
	"locus/migrate"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router"
	harness "locus/test/cluster"
)

// moving are the genes of every move of these tests: half of all.
var moving = gene.NewSet(gene.Range{First: 0, Last: 0x7fff})

// look is the interval of polling.
const look = 10 * time.Millisecond

// plan begins a move.
func (w *world) plan(t *testing.T, id string, kind job.Kind, from, to router.ShardName) {
	t.Helper()
	j, err := job.New(id, kind, from, to, gene.W16, moving, "the test", "", time.Now())
	if w.hot != nil {
		j, err = job.NewBySequence(id, from, to, gene.W16, hotGenes, "the test", "", time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Jobs.Create(t.Context(), j); err != nil {
		t.Fatal(err)
	}
}

// order gives an order to a job, as the commands do.
func (w *world) order(t *testing.T, id string, event func(phase.State) phase.Event) {
	t.Helper()
	harness.Until(t, "order "+id, func() (bool, error) {
		s, err := w.Jobs.Read(t.Context(), id)
		if err != nil {
			return false, err
		}
		next, err := s.Job.On(event(s.Job.State), "the test", "", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Jobs.Write(t.Context(), s, next, nil, "")
		return err == nil || errors.Is(err, migrate.ErrUnknown), err
	})
}

// cut wants a share of the genes at the target, in steps of some percent.
func (w *world) cut(t *testing.T, id string, percent, step float64) {
	t.Helper()
	w.order(t, id, func(s phase.State) phase.Event {
		kind := phase.CutTo
		if s.Genes(percent) < s.Cut {
			kind = phase.RollBack
		}
		return phase.Event{Kind: kind, Genes: s.Genes(percent), Step: s.Genes(step)}
	})
}

func (w *world) finish(t *testing.T, id string) {
	t.Helper()
	w.order(t, id, func(phase.State) phase.Event { return phase.Event{Kind: phase.Finish} })
}

// state waits until a job is in a state. It fails the test if the job fails.
func (w *world) state(t *testing.T, id, what string, is func(phase.State) bool) {
	t.Helper()
	w.AwaitJob(id, what, is)
}

func (w *world) phase(t *testing.T, id string, p phase.Phase) {
	t.Helper()
	w.state(t, id, string(p), func(s phase.State) bool { return s.Phase == p })
}

// steps returns how often genes have changed hands so far.
func (w *world) steps(t *testing.T) int {
	t.Helper()
	if w.hot != nil { // whose map's entries stay
		return w.stepped
	}
	versions, err := declared.History(t.Context(), w.KV)
	if err != nil {
		t.Fatal(err)
	}
	return len(versions) - 1 // the first is the map that was declared
}
