package sysvars

import "locus/router/stmt"

// Answer describes a shard's answer to a statement.
type Answer struct {
	Failed   bool
	Begun    bool   // for a statement that failed: the server had begun to run it
	Columns  bool   // the answer has rows
	Rows     uint64 // their number
	Offset   uint64 // the number of rows that OFFSET skipped
	OK       bool   // the answer ends with OK
	Affected uint64
}

// Count records ROW_COUNT() and FOUND_ROWS() for a statement that a shard has answered. It reports whether the number of found rows must be asked
// from the shard.
func (s *State) Count(st *stmt.Statement, a Answer) (ask bool) {
	switch {
	case a.Failed:
		s.RowCount = -1
		// MySQL keeps the previous number. MariaDB returns the number that it had found, if it had begun to run the query.
		return a.Begun && (st.Kind == stmt.Select || copies(st)) && s.flavor().ForgetsFoundRows()
	case a.Columns && st.Kind != stmt.Call:
		s.RowCount = -1
		return countsFound(st) && s.countFound(st, a)
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

// countFound counts the client's rows and the skipped rows before them. It reports whether only the server knows the number. That is so if the
// client got no row because of an OFFSET, and on MariaDB for a LIMIT after a UNION.
func (s *State) countFound(st *stmt.Statement, a Answer) (ask bool) {
	limitedUnion := st.Features&stmt.Union != 0 && st.Features&stmt.Limited != 0
	if a.Offset > 0 && a.Rows == 0 || limitedUnion && s.flavor().FindsRowsBehindUnion() {
		return true
	}
	s.FoundRows = a.Offset + a.Rows
	return false
}

// countsFound reports whether FOUND_ROWS() counts the rows of a statement. It counts the rows of the server's own tables, but not those of a SHOW
// about one object. A statement with SQL_CALC_FOUND_ROWS is excluded, because the server is asked in any case, and can be asked only once.
func countsFound(st *stmt.Statement) bool {
	switch st.Kind {
	case stmt.Explain, stmt.Other, stmt.Handler:
		return false
	default:
		return st.Effects&stmt.TellsOfOne == 0 && st.Features&stmt.CalcFoundRows == 0
	}
}

// copies reports whether a statement is INSERT … SELECT or CREATE TABLE … SELECT, whose rows are counted too.
func copies(st *stmt.Statement) bool {
	switch st.Kind {
	case stmt.Insert, stmt.Replace:
		return len(st.Blocks) > 0 && st.Features&stmt.CalcFoundRows == 0
	default:
		return st.Effects&stmt.Copies != 0
	}
}
