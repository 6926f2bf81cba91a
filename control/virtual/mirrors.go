package virtual

import (
	"context"
	"maps"
	"slices"

	"locus/proxy/meter"
	"locus/proxy/mirror"
)

// mirrorRows returns a row for each job that mirrors reads and each proxy. A proxy that does not answer has no
// rows.
func (s *Schema) mirrorRows(ctx context.Context) ([][]any, error) {
	return s.mirrored(ctx, func(job, proxy string, r mirror.Report) [][]any {
		ms := func(t meter.Tally, share float64) float64 { return meter.Quantile(t.Times, share).Seconds() * 1000 }
		return [][]any{{
			job, proxy, int64(r.Percent), text(r.Away), r.AwaySince, int64(r.Sampled), int64(r.Compared), int64(r.Dropped), int64(r.TooLong),
			int64(r.Unsent), int64(r.Late), int64(r.Failed), int64(r.Lag), int64(r.Looking), int64(r.Different), int64(r.Unsettled), int64(r.Reordered),
			ms(r.Source, 0.5), ms(r.Source, 0.99), ms(r.Target, 0.5), ms(r.Target, 0.99),
		}}
	})
}

// mirrorDifferenceRows returns the last differences that each proxy has found.
func (s *Schema) mirrorDifferenceRows(ctx context.Context) ([][]any, error) {
	return s.mirrored(ctx, func(job, proxy string, r mirror.Report) (rows [][]any) {
		for _, d := range r.Differences {
			code := any(nil)
			if d.Code != 0 {
				code = int64(d.Code)
			}
			rows = append(rows, []any{
				job, proxy, d.Digest, short(d.Statement), text(d.Database), d.Gene, int64(d.Times),
				int64(d.SourceRows), int64(d.TargetRows), d.SourceHash, d.TargetHash, code, d.At,
			})
		}
		return rows
	})
}

func (s *Schema) mirrored(ctx context.Context, rowsOf func(job, proxy string, r mirror.Report) [][]any) ([][]any, error) {
	all, err := s.jobs.Mirrored(ctx)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for _, job := range slices.Sorted(maps.Keys(all)) {
		for _, proxy := range slices.Sorted(maps.Keys(all[job])) {
			rows = append(rows, rowsOf(job, proxy, all[job][proxy])...)
		}
	}
	return rows, nil
}
