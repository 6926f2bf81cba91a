package overview

import (
	"time"

	"locus/control/watch"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// Move is an active move, or one that ended while it was watched.
type Move struct {
	ID       string      `json:"id"`
	Phase    phase.Phase `json:"phase"`
	AtTarget float64     `json:"percent"`
	From     string      `json:"from"`
	To       string      `json:"to"`
	Problem  string      `json:"problem,omitempty"`
}

func moves(all []watch.Seen, now time.Time) []Move {
	list := []Move{}
	for _, seen := range all {
		j, r := seen.Job, seen.Report
		m := Move{j.ID, j.State.Shown(), j.State.Percent(), string(j.From), j.Target(), ""}
		switch silent := job.See(j, seen.Earlier, r, now).Silent; {
		case m.Phase == phase.Failed:
			m.Problem = "has failed: " + j.State.Why
		case r.Trouble != "":
			m.Problem = r.Trouble
		case silent > 0:
			m.Problem = "nobody has reported for " + watch.Rounded(silent)
		}
		list = append(list, m)
	}
	return list
}
