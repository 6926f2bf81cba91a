package session

import (
	"slices"

	"locus/router/stmt"
)

// count keeps what ROW_COUNT() and FOUND_ROWS() are to say of a statement that a
// shard has answered.
func (s *Session) count(l lease, r *request, failed bool) {
	ok, has := s.scanner.OK()
	switch {
	case failed:
		s.vars.RowCount = -1
		s.foundNone(l, r)
	case s.scanner.Columns() > 0 && r.plan.Statement.Kind != stmt.Call:
		s.vars.RowCount = -1
		if finds(r) {
			s.found(l, r)
		}
	case has:
		s.vars.RowCount = int64(ok.AffectedRows)
		switch st := r.plan.Statement; {
		case st.Kind == stmt.Select: // … INTO @a
			s.vars.FoundRows = ok.AffectedRows
		case copies(r) && (r.world.Flavor.FindsRowsOfCreate() || st.Kind != stmt.DDL):
			s.askFoundRows(l)
		}
	}
}

// foundNone keeps what FOUND_ROWS() is to say of a query that failed: MySQL says what
// it has said before, and MariaDB what it had found, if it had begun to look.
func (s *Session) foundNone(l lease, r *request) {
	if !r.world.Flavor.ForgetsFoundRows() || r.plan.Statement.Kind != stmt.Select && !copies(r) {
		return
	}
	if code, _ := s.scanner.ErrCode(); !slices.Contains(beforeBeginning, code) {
		s.askFoundRows(l)
	}
}

// found keeps how many rows a query found: those that the client got, and those
// before them. Where it got none behind an OFFSET, and where LIMIT stands behind a
// UNION, the server knows.
func (s *Session) found(l lease, r *request) {
	st := r.plan.Statement
	if st.Features&stmt.CalcFoundRows != 0 { // the shard is asked, and can be only once: see stay
		return
	}
	rows, offset := uint64(s.scanner.Rows()), s.offset(r)
	switch {
	case offset > 0 && rows == 0, st.Features&stmt.Union != 0 && st.Features&stmt.Limited != 0 && r.world.Flavor.FindsRowsBehindUnion():
		s.askFoundRows(l)
	default:
		s.vars.FoundRows = offset + rows
	}
}

// offset is the OFFSET of a query, 0 if it is not known.
func (s *Session) offset(r *request) uint64 {
	blocks := r.plan.Statement.Blocks
	if len(blocks) == 0 || blocks[0].Limit == nil || blocks[0].Limit.Offset == nil || blocks[0].Limit.Unplaced {
		return 0
	}
	n, _ := limitNumber(r.values.Operand(*blocks[0].Limit.Offset))
	return n
}

// askFoundRows is readFoundRows between a statement and what comes behind it.
func (s *Session) askFoundRows(l lease) {
	status := s.scanner.Status()
	s.readFoundRows(l)
	l.conn.SetStatus(status)
}

// finds tells a statement whose rows count for FOUND_ROWS(): what tables of the
// server's own answer, and not what is told of one thing.
func finds(r *request) bool {
	st := r.plan.Statement
	switch st.Kind {
	case stmt.Explain, stmt.Other, stmt.Handler:
		return false
	default:
		return st.Effects&stmt.TellsOfOne == 0
	}
}

// copies tells INSERT … SELECT and CREATE TABLE … SELECT, whose rows are found too.
func copies(r *request) bool {
	switch st := r.plan.Statement; st.Kind {
	case stmt.Insert, stmt.Replace:
		return len(st.Blocks) > 0 && st.Features&stmt.CalcFoundRows == 0
	default:
		return st.Effects&stmt.Copies != 0
	}
}
