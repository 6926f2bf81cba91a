package copier

import "sync/atomic"

// Progress is the progress of a copy. Estimate comes from the servers' statistics.
type Progress struct {
	Rows, Estimate, Bytes, Chunks int64
	Lanes, LanesDone              int
	Tables                        []TableProgress // in the configuration's order
}

// TableProgress is the progress of one table.
type TableProgress struct {
	Name             string
	Rows, Estimate   int64
	Lanes, LanesDone int
}

// counted counts a table's rows. Its lanes add to it.
type counted struct {
	name       string
	estimate   int64
	lanes      int
	rows, done atomic.Int64
}

// Progress is safe for concurrent use.
func (c *Copier) Progress() Progress {
	p := Progress{Bytes: c.bytes.Load(), Chunks: c.chunks.Load(), Lanes: len(c.lanes)}
	for _, of := range c.tables {
		t := TableProgress{of.name, of.rows.Load(), of.estimate, of.lanes, int(of.done.Load())}
		p.Rows, p.Estimate, p.LanesDone = p.Rows+t.Rows, p.Estimate+t.Estimate, p.LanesDone+t.LanesDone
		p.Tables = append(p.Tables, t)
	}
	return p
}

// Plus returns the sum of two copies of the same tables.
func (p Progress) Plus(o Progress) Progress {
	sum := Progress{
		Rows: p.Rows + o.Rows, Estimate: p.Estimate + o.Estimate, Bytes: p.Bytes + o.Bytes, Chunks: p.Chunks + o.Chunks,
		Lanes: p.Lanes + o.Lanes, LanesDone: p.LanesDone + o.LanesDone,
	}
	for i, t := range o.Tables {
		if i < len(p.Tables) {
			of := p.Tables[i]
			t = TableProgress{t.Name, t.Rows + of.Rows, t.Estimate + of.Estimate, t.Lanes + of.Lanes, t.LanesDone + of.LanesDone}
		}
		sum.Tables = append(sum.Tables, t)
	}
	return sum
}
