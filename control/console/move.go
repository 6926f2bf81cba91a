package console

import (
	"slices"
	"time"

	"locus/control/overview"
	"locus/control/watch"
	"locus/migrate/job"
)

// moveAnswer is an active move. Percentages are of its rows, and those at the target are of its genes.
type moveAnswer struct {
	overview.Move
	Kind    job.Kind  `json:"kind"`
	Why     string    `json:"why,omitempty"` // an operator requested it
	By      string    `json:"by"`
	Created time.Time `json:"created"`
	Genes   int       `json:"genes"`
	Ranges  string    `json:"gene_ranges"`
	// BySequence reports that the genes' rows are divided by their sequence numbers.
	BySequence bool    `json:"by_sequence,omitempty"`
	Stages     []stage `json:"stages"`

	Copied   float64 `json:"copied_percent"`
	Verified float64 `json:"verified_percent"`
	Wanted   float64 `json:"wanted_percent"` // the share of the genes at the target at the end of the cut-over

	Doing    string  `json:"doing,omitempty"`
	Runner   string  `json:"runner,omitempty"`
	Rows     float64 `json:"rows_per_second"`
	Changes  float64 `json:"changes_per_second"`
	Left     float64 `json:"seconds_left,omitempty"`
	NextStep float64 `json:"next_step_seconds"` // -1 for none
	Silent   float64 `json:"silent_seconds,omitempty"`
	Step     float64 `json:"step_percent,omitempty"`
	Every    float64 `json:"every_seconds,omitempty"`
	OnBreach string  `json:"on_breach,omitempty"`
	Throttle int     `json:"throttle_percent"`

	RowsCopied   int64 `json:"rows_copied"`
	RowsEstimate int64 `json:"rows_estimate"`
	RowsVerified int64 `json:"rows_verified"`
	RowsDeleted  int64 `json:"rows_deleted"`
	LagMs        int64 `json:"lag_ms"`
	BackLagMs    int64 `json:"back_lag_ms"`
	Reversible   bool  `json:"reversible"` // the job can be rolled back
	Conflicts    int64 `json:"conflicts"`
	HeldMs       int64 `json:"last_hold_ms"`

	// Before is the result of statements on its genes before the cut-over, Since at the target since the last step.
	Before job.Fared `json:"before"`
	Since  job.Fared `json:"since"`
	// Mirror compares the target's answers to mirrored reads, if there are any.
	Mirror  *mirrorAnswer `json:"mirror,omitempty"`
	Tables  []tableOfMove `json:"tables"`
	Remedy  string        `json:"remedy,omitempty"`
	Trouble string        `json:"trouble,omitempty"` // the action being retried
	// Orders are those that its state accepts, for users who may give them.
	Orders  []orderAnswer `json:"orders"`
	Journal []job.Entry   `json:"journal"` // its end, newest first
}

type tableOfMove struct {
	Name     string  `json:"name"`
	Percent  float64 `json:"percent"`
	Copied   int64   `json:"rows_copied"`
	Compared int64   `json:"rows_compared,omitempty"`
}

// journalShown bounds the entries of a journal in the state. /v1/moves/{id} has all.
const journalShown = 30

func newMove(m overview.Move, s watch.Seen, admin bool, now time.Time) moveAnswer {
	j, r := s.Job, s.Report
	p := job.See(j, s.Earlier, r, now)
	a := moveAnswer{
		Move: m, Kind: j.Kind, Why: j.Why, By: j.By, Created: j.Created, Genes: j.Genes.Len(), Ranges: short(j.Genes.String()), BySequence: j.BySequence, Stages: stagesOf(j.State),
		Copied: p.Copied, Verified: p.Verified, Wanted: p.Wanted,
		Doing: r.Doing, Runner: r.Runner, Rows: p.Rows, Changes: p.Changes, Left: p.Left.Seconds(), NextStep: -1, Silent: p.Silent.Seconds(),
		Every: j.Every.Seconds(), OnBreach: string(j.OnBreach), Throttle: j.Throttle,
		RowsCopied: r.RowsCopied, RowsEstimate: r.RowsEstimate, RowsVerified: r.RowsVerified, RowsDeleted: r.RowsDeleted,
		LagMs: r.LagMs, BackLagMs: r.BackLagMs, Reversible: j.State.Reversible, Conflicts: r.Conflicts, HeldMs: r.LastFenceMs,
		Before: r.Before, Since: r.After, Tables: []tableOfMove{}, Remedy: j.State.Remedy, Trouble: r.Trouble, Orders: []orderAnswer{}, Journal: newest(j.Journal, journalShown),
	}
	if j.Mirror > 0 && !j.State.Over() {
		a.Mirror = newMirror(j.Mirror, s.Mirror)
	}
	if p.NextStep >= 0 {
		a.NextStep = p.NextStep.Seconds()
	}
	if j.State.Total > 0 {
		a.Step = 100 * float64(j.State.Step) / float64(j.State.Total)
	}
	for _, t := range r.Tables {
		a.Tables = append(a.Tables, tableOfMove{t.Name, t.Percent(), t.RowsCopied, r.Compared[t.Name]})
	}
	if admin {
		a.Orders = ordersFor(j)
	}
	return a
}

// newest returns the end of a journal in reverse order.
func newest(journal []job.Entry, most int) []job.Entry {
	list := slices.Clone(journal[max(0, len(journal)-most):])
	slices.Reverse(list)
	return list
}

// short truncates a list of ranges, which may have thousands.
func short(text string) string {
	const most = 300
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
