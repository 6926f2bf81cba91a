package session

import (
	"slices"

	"locus/router/stmt"
)

// maintenanceVerbs contains the first words of statements that read whole tables.
var maintenanceVerbs = []string{"ANALYZE", "CHECK", "CHECKSUM", "OPTIMIZE", "REPAIR"}

// isUnlimited reports whether a statement has no time limit but the client's own. The duration of such a statement depends on the
// size of a table, and after an interruption it would have to start from the beginning.
func isUnlimited(st *stmt.Statement) bool {
	switch st.Kind {
	case stmt.DDL, stmt.CreateSchema, stmt.LoadData:
		return true
	case stmt.Other:
		return slices.Contains(maintenanceVerbs, st.Verb)
	default:
		return false
	}
}
