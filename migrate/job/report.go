package job

import "time"

// Report is what the process that runs a job says of it, several times a second
// and without ceremony: for people and dashboards, never for decisions.
type Report struct {
	ID     string    `json:"id"`
	Runner string    `json:"runner"`
	At     time.Time `json:"at"`
	Doing  string    `json:"doing"` // the action under way

	RowsCopied   int64 `json:"rows_copied"`
	RowsEstimate int64 `json:"rows_estimate"`
	BytesCopied  int64 `json:"bytes_copied"`
	LanesDone    int   `json:"lanes_done"`
	Lanes        int   `json:"lanes"`
	// Tables is the same of each table.
	Tables []TableCopy `json:"tables,omitempty"`

	Changes   int64 `json:"changes"` // applied at the target by the stream
	LagMs     int64 `json:"lag_ms"`
	BackLagMs int64 `json:"back_lag_ms"` // of the reverse stream
	Conflicts int64 `json:"conflicts"`
	// Strays are changes that went past the proxies, to a server that is not the rows' owner any
	// more, since this process runs the job.
	Strays int64 `json:"strays,omitempty"`
	// Overwritten are rows, since this process runs the job, that the owner's changes replaced although they were not as
	// they were at the owner.
	Overwritten int64 `json:"overwritten,omitempty"`

	RowsVerified int64     `json:"rows_verified"`
	Verified     time.Time `json:"verified,omitzero"` // when the last verification passed
	RowsDeleted  int64     `json:"rows_deleted"`
	// Compared is how many rows of each table the last comparison that ended has
	// compared.
	Compared map[string]int64 `json:"compared,omitempty"`

	// NextStep is when a rolling cut-over goes on; LastFenceMs how long the last
	// step held statements.
	NextStep    time.Time `json:"next_step,omitzero"`
	LastFenceMs int64     `json:"last_fence_ms"`
	// Before is how statements on the genes fared before the cut-over, After how
	// they do at the target since the last step; only while a cut-over rolls.
	Before  Fared  `json:"before,omitzero"`
	After   Fared  `json:"after,omitzero"`
	Trouble string `json:"trouble,omitempty"` // what is being tried again
}

// TableCopy is how far the copy of one table is.
type TableCopy struct {
	Name         string `json:"name"`
	RowsCopied   int64  `json:"rows_copied"`
	RowsEstimate int64  `json:"rows_estimate"`
	Lanes        int    `json:"lanes"`
	LanesDone    int    `json:"lanes_done"`
}

// Percent is how far it is; the estimate may be too low.
func (t TableCopy) Percent() float64 {
	switch {
	case t.Lanes > 0 && t.LanesDone == t.Lanes:
		return 100
	case t.RowsEstimate > 0:
		return short(t.RowsCopied, t.RowsEstimate)
	}
	return short(int64(t.LanesDone), int64(t.Lanes))
}
