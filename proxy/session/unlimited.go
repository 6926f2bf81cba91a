package session

import (
	"slices"

	"locus/router/stmt"
)

// lookingAfter are first words of statements that go through whole tables.
var lookingAfter = []string{"ANALYZE", "CHECK", "CHECKSUM", "OPTIMIZE", "REPAIR"}

// takesItsTime tells a statement whose time depends on how large a table is, and that would have to be begun anew: it has no limit
// but the client's own.
func takesItsTime(st *stmt.Statement) bool {
	switch st.Kind {
	case stmt.DDL, stmt.CreateSchema, stmt.LoadData:
		return true
	case stmt.Other:
		return slices.Contains(lookingAfter, st.Verb)
	default:
		return false
	}
}
