package stamp

import (
	"context"

	"locus/router/plan"
)

// StampCopies numbers the rows of an INSERT into a global table with an AUTO_INCREMENT column that the cluster numbers.
// The result has one text, which every shard runs.
func (s *Stamper) StampCopies(ctx context.Context, p *plan.Global, v *plan.Values, prepared bool) (*Result, error) {
	f := literals
	if prepared {
		f = placeholders
	}
	s.reset(p.Insert, v, f)
	if err := s.number(ctx); err != nil {
		return nil, err
	}
	for i := range s.in.Rows(v.Args) {
		s.rows = append(s.rows, row{asked: s.asked(i), group: -1})
	}
	s.tellNumber()
	if err := s.write(p.Added); err != nil {
		return nil, err
	}
	s.deliver()
	return &s.result, nil
}
