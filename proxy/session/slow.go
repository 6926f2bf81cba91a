package session

import (
	"log/slog"
	"slices"
	"strings"
	"time"

	"locus/proxy/meter"
	"locus/proxy/trace"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// epoch is what moments are counted from: to read the clock that tells no date costs
// half as much.
var epoch = meter.Epoch

// timing is what is noted of a statement on its way, in case that it is slow.
type timing struct {
	began  time.Duration      // since epoch
	waited time.Duration      // for connections
	held   time.Duration      // while genes changed hands
	shards []router.ShardName // that it was sent to
	plan   *plan.Facts        // nil: it was not planned
	code   uint16             // of the error that the client got
	trace  *trace.Statement   // nil: it is not traced
}

func (t *timing) begin() { *t = timing{began: time.Since(epoch), shards: t.shards[:0]} }

func (t *timing) sentTo(shard router.ShardName) {
	if !slices.Contains(t.shards, shard) {
		t.shards = append(t.shards, shard)
	}
}

// slowAfter is from how long on the user's statements are slow; 0: never.
func (s *Session) slowAfter() time.Duration {
	if own := s.account.SlowStatement; own > 0 {
		return own
	}
	return s.Meter.Slow.After()
}

// observed is attempt, and tells of a statement that was slow.
func (s *Session) observed(r *request) error {
	s.failed, s.timing.plan = false, r.facts
	err := s.attempt(r)
	if s.timing.trace != nil {
		s.noteOutcome(r, err != nil || s.failed)
	}
	if after := s.slowAfter(); after > 0 {
		if took := time.Since(epoch) - s.timing.began; took >= after {
			s.slow(r, took, err != nil || s.failed)
		}
	}
	return err
}

// digestText bounds what is kept and logged of a statement, in bytes.
const digestText = 500

// slow keeps a statement, without its literals: they may be somebody's secrets.
func (s *Session) slow(r *request, all time.Duration, failed bool) {
	digest := r.values.Digest(digestText)
	shards := make([]string, len(s.timing.shards))
	for i, shard := range s.timing.shards {
		shards[i] = string(shard)
	}
	took := meter.Took{
		Hash: digest.Hash, Text: digest.Text, Database: s.vars.Settings.Database(), User: s.user,
		Route: r.plan.String(), Shards: strings.Join(shards, ", "),
		All: all, Waited: s.timing.waited, Held: s.timing.held,
		Rows: s.rowsOf(r.facts, failed), Failed: failed, Ended: time.Now(),
	}
	log, skipped := s.Meter.Slow.Add(took)
	if !log {
		return
	}
	s.Log.Warn("slow statement",
		slog.String("digest", took.Hash), slog.String("statement", took.Text), slog.String("database", took.Database),
		slog.String("route", took.Route), slog.String("shards", took.Shards),
		slog.Duration("took", took.All), slog.Duration("waited", took.Waited), slog.Duration("held", took.Held),
		slog.Uint64("rows", took.Rows), slog.Bool("failed", failed), slog.Uint64("session", uint64(s.id)), slog.String("user", took.User),
		slog.Uint64("unlogged", skipped))
}

// rowsOf is how many rows a statement gave or changed.
func (s *Session) rowsOf(p *plan.Facts, failed bool) uint64 {
	switch {
	case failed || len(s.timing.shards) == 0:
		return 0
	case p.Statement.Kind == stmt.Select && len(s.timing.shards) > 1:
		return s.vars.FoundRows
	case s.vars.RowCount >= 0:
		return uint64(s.vars.RowCount)
	}
	return uint64(s.client.Scanner.Rows())
}
