package copier

import "sync/atomic"

// Progress is how far the copy is. Estimate is of the servers' statistics.
type Progress struct {
	Rows, Estimate, Bytes, Chunks int64
	Lanes, LanesDone              int
	Tables                        []TableProgress // in the order of the configuration
}

// TableProgress is how far one table is.
type TableProgress struct {
	Name             string
	Rows, Estimate   int64
	Lanes, LanesDone int
}

// counted is what is counted of a table; its lanes add to it.
type counted struct {
	name       string
	estimate   int64
	lanes      int
	rows, done atomic.Int64
}

// Progress may be asked at any time.
func (c *Copier) Progress() Progress {
	p := Progress{
		Rows: c.rows.Load(), Estimate: c.estimate, Bytes: c.bytes.Load(), Chunks: c.chunks.Load(),
		Lanes: len(c.lanes), LanesDone: int(c.done.Load()),
	}
	for _, t := range c.tables {
		p.Tables = append(p.Tables, TableProgress{t.name, t.rows.Load(), t.estimate, t.lanes, int(t.done.Load())})
	}
	return p
}
