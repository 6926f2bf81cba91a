package observe

import (
	"log/slog"
	"strings"
	"time"

	"locus/proxy/meter"
	"locus/router/plan"
	"locus/router/stmt"
)

// Planned records the plan under which the statement runs now.
func (s *Session) Planned(p *plan.Facts) { s.Failed, s.plan = false, p }

// Ran records that a planned statement has run or failed. after is the user's own threshold for slow statements. If it is 0, the general one
// applies.
func (s *Session) Ran(p plan.Plan, v *plan.Values, after time.Duration, err error) {
	failed := err != nil || s.Failed
	if s.trace != nil {
		s.noteOutcome(p, failed)
	}
	if after <= 0 {
		after = s.services.Meter.Slow.After()
	}
	if after > 0 {
		if took := time.Since(epoch) - s.began; took >= after {
			s.recordSlow(p, v, took, failed)
		}
	}
}

// recordSlow records a slow statement without its literals, which may be secrets.
func (s *Session) recordSlow(p plan.Plan, v *plan.Values, all time.Duration, failed bool) {
	digest := v.Digest(DigestText)
	shards := make([]string, len(s.shards))
	for i, shard := range s.shards {
		shards[i] = string(shard)
	}
	took := meter.Took{
		Hash: digest.Hash, Text: digest.Text, Database: s.vars.Settings.Database(), User: s.activity.user,
		Route: p.String(), Shards: strings.Join(shards, ", "),
		All: all, Waited: s.waited, Held: s.held,
		Rows: s.rowsOf(p.About(), failed), Failed: failed, Ended: time.Now(),
	}
	log, skipped := s.services.Meter.Slow.Add(took)
	if !log {
		return
	}
	s.services.Log.Warn("slow statement",
		slog.String("digest", took.Hash), slog.String("statement", took.Text), slog.String("database", took.Database),
		slog.String("route", took.Route), slog.String("shards", took.Shards),
		slog.Duration("took", took.All), slog.Duration("waited", took.Waited), slog.Duration("held", took.Held),
		slog.Uint64("rows", took.Rows), slog.Bool("failed", failed), slog.Uint64("session", uint64(s.id)), slog.String("user", took.User),
		slog.Uint64("unlogged", skipped))
}

// rowsOf returns the number of rows that a statement returned or changed.
func (s *Session) rowsOf(p *plan.Facts, failed bool) uint64 {
	switch {
	case failed || len(s.shards) == 0:
		return 0
	case p.Statement.Kind == stmt.Select && len(s.shards) > 1:
		return s.vars.FoundRows
	case s.vars.RowCount >= 0:
		return uint64(s.vars.RowCount)
	}
	return uint64(s.client.Scanner.Rows())
}
