package session

import (
	"fmt"

	"locus/proxy/exec"
	"locus/proxy/wire"
	"locus/router/plan"
)

// runStamped runs an INSERT into a sharded table.
func (s *Session) runStamped(r *exec.Work, p *plan.Stamped) error {
	result, err := s.env.Stamp(r, p)
	if err != nil {
		return err
	}
	var shards []int
	if !r.Snapshot.Map.Divided().Empty() {
		for _, text := range result.Shards {
			shards = append(shards, text.Shard)
		}
	}
	if err := s.admit(r, result.Genes, false, shards); err != nil {
		return err
	}
	s.Counts.Stamped.Add(uint64(result.Generated))
	if len(result.Shards) == 1 {
		return s.env.InsertOne(r, p, result)
	}
	parts := make([]exec.Part, 0, len(result.Shards))
	for _, text := range result.Shards {
		parts = append(parts, exec.Part{Shard: r.Snapshot.Map.Shard(text.Shard), Text: text.Text, Params: s.env.StampedParams(r, text.Params)})
	}
	total, err := s.runParts(r, parts)
	if err != nil {
		return err
	}
	ok := wire.OK{AffectedRows: total.Affected, Warnings: total.Warnings, Info: records(uint64(len(result.Genes)), total, r.Facts.Statement.Insert.Ignore)}
	if result.HasID && total.Affected > 0 {
		s.vars.InsertID = result.FirstID.Lo
		ok.LastInsertID = result.CountFrom
	} else if total.Affected > 0 {
		ok.LastInsertID = p.Insert.LastNumber(r.Values)
	}
	return s.done(ok)
}

// records is what the OK of an INSERT says in words.
func records(rows uint64, total exec.Totals, ignores bool) []byte {
	duplicates := max(0, int64(total.Affected)-int64(rows))
	if ignores {
		duplicates = max(0, int64(rows)-int64(total.Affected))
	}
	return fmt.Appendf(nil, "Records: %d  Duplicates: %d  Warnings: %d", rows, duplicates, total.Warnings)
}

// inserted writes the OK of rows from elsewhere.
func (s *Session) inserted(in exec.Inserted, words []byte) error {
	ok := wire.OK{AffectedRows: in.Affected, Warnings: in.Warnings, Info: words}
	if in.FirstID != 0 && in.Affected > 0 {
		s.vars.InsertID = in.FirstID
	}
	if in.Affected > 0 {
		ok.LastInsertID = in.CountFrom
	}
	s.vars.FoundRows = in.Rows
	return s.done(ok)
}
