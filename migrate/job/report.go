package job

import "time"

// Report is the state of a job that its process publishes several times a second. It is for people and
// dashboards. No decision may depend on it.
type Report struct {
	ID     string    `json:"id"`
	Runner string    `json:"runner"`
	At     time.Time `json:"at"`
	Doing  string    `json:"doing"` // the running action

	RowsCopied   int64 `json:"rows_copied"`
	RowsEstimate int64 `json:"rows_estimate"`
	BytesCopied  int64 `json:"bytes_copied"`
	LanesDone    int   `json:"lanes_done"`
	Lanes        int   `json:"lanes"`
	// Tables holds the same numbers by table.
	Tables []TableCopy `json:"tables,omitempty"`

	Changes   int64 `json:"changes"` // applied at the target by the stream
	LagMs     int64 `json:"lag_ms"`
	BackLagMs int64 `json:"back_lag_ms"` // of the reverse stream
	Conflicts int64 `json:"conflicts"`
	// Strays counts changes that past the proxies, on a server that no longer owns the rows. It counts from
	// the start of this process's run of the job.
	Strays int64 `json:"strays,omitempty"`
	// Overwritten counts rows that the owner's changes replaced although they differed from the owner's old
	// row. It counts from the start of this process's run of the job.
	Overwritten int64 `json:"overwritten,omitempty"`

	RowsVerified int64     `json:"rows_verified"`
	Verified     time.Time `json:"verified,omitzero"` // time of the last verification that passed
	RowsDeleted  int64     `json:"rows_deleted"`
	// Compared holds, by table, the number of rows that the last completed comparison has compared.
	Compared map[string]int64 `json:"compared,omitempty"`

	// NextStep is the time of the next step of a rolling cut-over. LastFenceMs is how long the last step paused
	// statements.
	NextStep    time.Time `json:"next_step,omitzero"`
	LastFenceMs int64     `json:"last_fence_ms"`
	// Before summarizes the genes' statements before the cut-over, After those at the target since the last
	// step. Both are set only during a rolling cut-over.
	Before  Fared  `json:"before,omitzero"`
	After   Fared  `json:"after,omitzero"`
	Trouble string `json:"trouble,omitempty"` // the error that is being retried
}

// TableCopy is the progress of copying one table.
type TableCopy struct {
	Name         string `json:"name"`
	RowsCopied   int64  `json:"rows_copied"`
	RowsEstimate int64  `json:"rows_estimate"`
	Lanes        int    `json:"lanes"`
	LanesDone    int    `json:"lanes_done"`
}

// Percent returns the progress. It stays below 100 until all lanes are done, because the estimate may be too
// low.
func (t TableCopy) Percent() float64 {
	switch {
	case t.Lanes > 0 && t.LanesDone == t.Lanes:
		return 100
	case t.RowsEstimate > 0:
		return short(t.RowsCopied, t.RowsEstimate)
	}
	return short(int64(t.LanesDone), int64(t.Lanes))
}
