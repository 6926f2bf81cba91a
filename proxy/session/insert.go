package session

import (
	"fmt"

	"locus/proxy/exec"
	"locus/proxy/stamp"
	"locus/proxy/wire"
	"locus/router/plan"
)

// runStamped runs an INSERT into a sharded table.
func (s *Session) runStamped(r *exec.Execution, p *plan.Stamped) error {
	result, err := r.Stamp(p)
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
	if len(result.Shards) == 1 && !r.MayLeaveOut(p.Insert, result) {
		return r.InsertOne(p, result)
	}
	parts := make([]exec.Part, 0, len(result.Shards))
	for _, text := range result.Shards {
		parts = append(parts, exec.Part{
			Shard: r.Snapshot.Map.Shard(text.Shard), Text: text.Text, Params: r.StampedParams(text.Params), Rows: s.engine.RowsOf(text.Shard),
		})
	}
	return s.insertParts(r, p.Insert, result, parts)
}

// insertParts runs the parts of an INSERT in one transaction. It reports the first generated ID that a row has at the end.
func (s *Session) insertParts(r *exec.Execution, in *plan.Insertion, result *stamp.Result, parts []exec.Part) error {
	var total exec.Totals
	var first *plan.Issued
	err := s.runTogether(r, func() (err error) {
		if total, err = r.Change(parts); err == nil {
			first, err = r.FirstInserted(in, result, &total)
		}
		return err
	})
	if err != nil {
		return err
	}
	ok := wire.OK{AffectedRows: total.Affected, Warnings: total.Warnings}
	insert := r.Facts.Statement.Insert
	if rows := uint64(in.Rows(r.Values.Args)); rows > 1 {
		ok.Info = insertInfo(rows, total, insert.Ignore)
	}
	switch {
	case first != nil:
		s.vars.InsertID, ok.LastInsertID = first.ID.Lo, exec.CountFrom(result, first)
	case total.Affected > 0 && (total.Inserted || len(insert.Update) == 0 && !insert.Ignore):
		ok.LastInsertID = in.LastNumber(r.Values)
	default:
		ok.LastInsertID = total.InsertID
		if r.Facts.KeepsInsertID && total.InsertID != 0 {
			s.vars.InsertID = total.InsertID
		}
	}
	return s.done(ok)
}

// insertInfo returns the info text in the OK of an INSERT.
func insertInfo(rows uint64, total exec.Totals, ignores bool) []byte {
	duplicates := total.Duplicates
	if ignores {
		duplicates += total.Unaffected
	}
	return fmt.Appendf(nil, "Records: %d  Duplicates: %d  Warnings: %d", rows, duplicates, total.Warnings)
}

// writeInserted writes the OK of an INSERT whose rows came from a query or a file.
func (s *Session) writeInserted(in exec.Inserted, info []byte) error {
	ok := wire.OK{AffectedRows: in.Affected, Warnings: in.Warnings, Info: info}
	if in.FirstID != 0 && in.Affected > 0 {
		s.vars.InsertID = in.FirstID
	}
	if in.Affected > 0 {
		ok.LastInsertID = in.CountFrom
	}
	s.vars.FoundRows = in.Rows
	return s.done(ok)
}
