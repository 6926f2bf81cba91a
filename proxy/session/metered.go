package session

import (
	"time"

	"locus/idgen/gene"
	"locus/proxy/meter"
	"locus/proxy/reply"
	"locus/proxy/session/fence"
	"locus/router"
)

// weigh counts a statement on the genes that it concerns.
func (s *Session) weigh(r *request, genes []gene.Gene, named bool) {
	if !named {
		s.Meter.Genes.AddScattered()
		return
	}
	w := r.snapshot.Map.Width()
	for _, g := range genes {
		s.Meter.Genes.Add(w, g)
	}
}

// faring is how a statement on one moving gene fares; the zero value is of any
// other statement.
type faring struct {
	job   string
	on    meter.Side
	began time.Time
}

// begin notes that a statement was let go, if all its genes are of one shard.
func (f *faring) begin(m *router.Map, genes []gene.Gene) {
	move, ok := m.MoveWith(genes[0])
	if !ok {
		return
	}
	owner := m.Lookup(genes[0])
	for _, g := range genes[1:] {
		if m.Lookup(g) != owner {
			return
		}
	}
	f.job, f.on, f.began = move.Job, meter.Source, time.Now()
	if m.Shard(owner) == move.To {
		f.on = meter.Target
	}
}

// runMetered is run, and tells how it went if that was on moving genes. What a
// statement waits for before it is let go does not count.
func (s *Session) runMetered(r *request) error {
	err := s.run(r)
	if r.fares.began.IsZero() {
		return err
	}
	switch err.(type) { //nolint:errorlint // the types are never wrapped
	case *fence.HeldError, *reply.GoneError:
		return err
	}
	_, refused := s.client.Scanner.ErrCode()
	s.Meter.Moves.Add(r.fares.job, r.fares.on, time.Since(r.fares.began), err != nil || refused)
	return err
}
