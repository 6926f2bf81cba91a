package observe

import (
	"slices"
	"time"

	"locus/idgen/gene"
	"locus/proxy/meter"
	"locus/router"
)

// CountGenes counts a statement on the genes that it concerns. named reports whether the statement's keys determine the genes.
func (s *Session) CountGenes(m *router.Map, genes []gene.Gene, named bool) {
	if !named {
		s.services.Meter.Genes.AddScattered()
		return
	}
	w := m.Width()
	for _, g := range genes {
		s.services.Meter.Genes.Add(w, g)
	}
}

// MoveOutcome measures a statement on moving genes of one job. The zero value measures nothing.
type MoveOutcome struct {
	job   string
	on    meter.Side
	began time.Time
}

// Begin starts the measurement when a statement is admitted, if all its genes belong to one shard. A statement on a divided gene counts for the
// target if it runs there.
func (f *MoveOutcome) Begin(m *router.Map, genes []gene.Gene, shards []int) {
	move, ok := m.MoveWith(genes[0])
	if !ok {
		return
	}
	owner := m.Lookup(genes[0])
	for _, g := range genes {
		if m.Lookup(g) != owner {
			return
		}
	}
	f.job, f.on, f.began = move.Job, meter.Source, time.Now()
	if m.Shard(owner) == move.To || move.Divides() && slices.ContainsFunc(shards, func(i int) bool { return m.Shard(i) == move.To }) {
		f.on = meter.Target
	}
}

// RecordMove records the result of a statement on moving genes. Waits before it was admitted don't count.
func (s *Session) RecordMove(f MoveOutcome, err error) {
	if f.began.IsZero() {
		return
	}
	_, refused := s.client.Scanner.ErrCode()
	s.services.Meter.Moves.Add(f.job, f.on, time.Since(f.began), err != nil || refused)
}
