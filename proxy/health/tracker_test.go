package health

import (
	"math/rand/v2"
	"testing"
	"time"
)

// history contains all events of a server, so that a test can derive the state from its definition.
type history struct {
	signs   []time.Time // answers, refusals, bytes
	reports []Report    // reports of the probes that have ended
}

func (h *history) quiet(now time.Time) time.Duration { return now.Sub(h.signs[len(h.signs)-1]) }

func (h *history) last() Finding {
	if len(h.reports) == 0 {
		return Answers
	}
	return h.reports[len(h.reports)-1].Finding
}

// check compares the tracker's state with the events.
func (h *history) check(t *testing.T, tr *tracker, now time.Time) {
	t.Helper()
	quiet, state := h.quiet(now), tr.state
	overdue := !tr.sent.IsZero() && now.Sub(tr.sent) >= late || h.last() == Silent
	switch {
	case state == Well && tr.sent.IsZero() && h.last() != Answers:
		t.Fatalf("it is well, and its last probe came to %v", h.last())
	case state == Away && h.last() != Refuses && h.last() != Silent:
		t.Fatalf("it is away, and its last probe came to %v", h.last())
	case overdue && quiet >= DefaultStall && state != Frozen:
		t.Fatalf("it has been silent for %v, and is %v", quiet, state)
	case state != Well && state != ReadOnly && tr.why == nil:
		t.Fatalf("it is %v, and nobody knows why", state)
	}
}

// For any order of events: a server is frozen exactly if nothing was received from it for too long, and only an answered probe
// ends that state.
func TestTheStateFollowsFromWhatWasHeard(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		now := time.Unix(1e9, 0)
		tr := newTracker(now, DefaultStall)
		h := &history{signs: []time.Time{now}}
		for range 500 {
			now = now.Add(rand.N(time.Second))
			before := tr.state
			quiet := h.quiet(now)
			switch event := random.IntN(6); {
			case event == 0:
				tr.heard(now)
				h.signs = append(h.signs, now)
			case event == 1 && tr.sent.IsZero():
				tr.begin(now)
			case event == 2 && !tr.sent.IsZero():
				r := Report{Finding: Finding(random.IntN(4)), ReadOnly: random.IntN(4) == 0, Err: errRefused}
				tr.found(now, r)
				h.reports = append(h.reports, r)
				if r.Finding != Silent {
					h.signs = append(h.signs, now)
				}
				if before == Frozen && tr.state != Frozen && r.Finding == Silent {
					t.Fatalf("seed %d: a probe without an answer ends the freeze", seed)
				}
			default:
				tr.pass(now)
				h.check(t, &tr, now)
				if before != Frozen && tr.state == Frozen && quiet < DefaultStall {
					t.Fatalf("seed %d: it is frozen after a sign %v ago", seed, quiet)
				}
				if before == Frozen && tr.state != Frozen {
					t.Fatalf("seed %d: time alone ends the freeze", seed)
				}
			}
		}
	}
}
