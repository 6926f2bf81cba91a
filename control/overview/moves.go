package overview

import (
	"time"

	"locus/control/finding"
	"locus/control/watch"
	"locus/migrate/phase"
	"locus/router"
)

// Move is an active move, or one that ended while it was watched.
type Move struct {
	ID       string           `json:"id"`
	Phase    phase.Phase      `json:"phase"`
	AtTarget float64          `json:"percent"`
	From     string           `json:"from"`
	To       string           `json:"to"`
	Problem  string           `json:"problem,omitempty"`
	Severity finding.Severity `json:"severity"`
}

func moves(all []watch.Seen, now time.Time) []Move {
	list := []Move{}
	for _, seen := range all {
		j := seen.Job
		m := Move{ID: j.ID, Phase: j.State.Shown(), AtTarget: j.State.Percent(), From: string(j.From), To: j.Target()}
		if f, is := stuck(seen, now); is {
			m.Problem = f.What
		}
		list = append(list, m)
	}
	return list
}

// unattended is the time that a job may be without a report: the process that runs it may have died, and another one takes over.
const unattended = 30 * time.Second

// stuck reports a job that makes no progress, with the reason.
func stuck(seen watch.Seen, now time.Time) (f finding.Finding, is bool) {
	const check = "moves"
	j, r := seen.Job, seen.Report
	last := j.Created
	if r.At.After(last) {
		last = r.At
	}
	switch silent := now.Sub(last); {
	case j.State.Shown() == phase.Failed:
		f = finding.New(finding.AtRisk, check, j.ID, j.State.Remedy+"; then locus resume, rollback or abort "+j.ID, "has failed: %s", j.State.Why)
	case r.Trouble != "":
		f = finding.New(finding.AtRisk, check, j.ID, "fix what it names; the job retries by itself: locus jobs "+j.ID, "can't go on: %s", r.Trouble)
		f.Symptom = true
	case silent > unattended:
		f = finding.New(finding.AtRisk, check, j.ID, "start a mover, or check the one that ran it: locus jobs "+j.ID, "no process has reported on it for %s", finding.Measure(watch.Rounded(silent)))
	default:
		return f, false
	}
	f.Title = "job " + j.ID + ": " + f.What
	f.Shards = []router.ShardName{j.From}
	for _, leg := range j.Legs() {
		f.Shards = append(f.Shards, leg.To)
	}
	return f, true
}

func movesFound(seen Seen) (list []finding.Finding) {
	for _, m := range seen.Moves {
		if f, is := stuck(m, seen.At); is && !m.Job.State.Over() {
			list = append(list, f)
		}
	}
	return list
}
