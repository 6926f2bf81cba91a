package sysvars

import "locus/router/stmt"

// Answer is what a shard's answer to a statement says of itself.
type Answer struct {
	Failed   bool
	Begun    bool   // of one that failed: the server had begun to run it
	Columns  bool   // it has rows
	Rows     uint64 // so many
	Offset   uint64 // that were left out before them
	OK       bool   // it ends with OK
	Affected uint64
}

// Count keeps what ROW_COUNT() and FOUND_ROWS() are to say of a statement that a shard has answered. It tells whether only the
// shard knows how many rows it found.
func (s *State) Count(st *stmt.Statement, a Answer) (ask bool) {
	switch {
	case a.Failed:
		s.RowCount = -1
		// MySQL says what it has said before, and MariaDB what it had found, if it had begun to look.
		return a.Begun && (st.Kind == stmt.Select || copies(st)) && s.flavor().ForgetsFoundRows()
	case a.Columns && st.Kind != stmt.Call:
		s.RowCount = -1
		return finds(st) && s.found(st, a)
	case !a.OK:
		return false
	}
	s.RowCount = int64(a.Affected)
	if st.Kind == stmt.Select { // … INTO @a
		s.FoundRows = a.Affected
		return false
	}
	return copies(st) && (st.Kind != stmt.DDL || s.flavor().FindsRowsOfCreate())
}

// found counts the rows that the client got, and those before them. Where it got none behind an OFFSET, and where LIMIT stands
// behind a UNION, the server knows.
func (s *State) found(st *stmt.Statement, a Answer) (ask bool) {
	limitedUnion := st.Features&stmt.Union != 0 && st.Features&stmt.Limited != 0
	if a.Offset > 0 && a.Rows == 0 || limitedUnion && s.flavor().FindsRowsBehindUnion() {
		return true
	}
	s.FoundRows = a.Offset + a.Rows
	return false
}

// finds tells a statement whose rows count for FOUND_ROWS(): what tables of the server's own answer, and not what is told of one
// thing. One that has them all counted is asked about in any case, and can be only once.
func finds(st *stmt.Statement) bool {
	switch st.Kind {
	case stmt.Explain, stmt.Other, stmt.Handler:
		return false
	default:
		return st.Effects&stmt.TellsOfOne == 0 && st.Features&stmt.CalcFoundRows == 0
	}
}

// copies tells INSERT … SELECT and CREATE TABLE … SELECT, whose rows are found too.
func copies(st *stmt.Statement) bool {
	switch st.Kind {
	case stmt.Insert, stmt.Replace:
		return len(st.Blocks) > 0 && st.Features&stmt.CalcFoundRows == 0
	default:
		return st.Effects&stmt.Copies != 0
	}
}
