package meter

// Meter contains all counters of a proxy. The zero value is ready. It is safe for concurrent use.
type Meter struct {
	Genes      Genes
	Moves      Moves
	Slow       Slow
	Statements Statements
	Latencies  Latencies
	Codes      Codes
}

// Ran counts a statement that has ended. d is its digest, or nil if [Statements.Find] returned none.
func (m *Meter) Ran(d *Digest, r *Run) {
	cell, ending := grid.of(r.Took), Done
	if r.Failed {
		ending = Errored
	}
	m.Latencies.add(r.Lane, r.Kind, r.Shard, ending, cell, r.Took)
	m.Statements.add(d, r, cell)
}
