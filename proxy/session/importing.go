package session

import (
	"slices"
	"strings"

	"locus/proxy/ddl"
	"locus/proxy/exec"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// mayConcernImport reports whether a statement may read or write tables that an import shards, or has sharded and may still roll
// back. Statements that could reach such tables indirectly count too: through views, triggers and routines, or because no parser
// reads the statement.
func (s *Session) mayConcernImport(r *exec.Execution) bool {
	if r.Snapshot.Map.Importing() == nil {
		return false
	}
	st := r.Facts.Statement
	switch st.Kind {
	case stmt.Begin, stmt.Commit, stmt.Rollback, stmt.Savepoint, stmt.ShowWarnings, stmt.Unlock, stmt.Use, stmt.Kill, stmt.Diagnose, stmt.Procedure:
		return false
	case stmt.XA: // the statements of its transaction are checked one by one
		return false
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete, stmt.Set:
	default:
		return true
	}
	return st.Features&stmt.UnknownFunction != 0 || slices.ContainsFunc(plan.TablesOf(st), func(name stmt.TableName) bool {
		return s.mayReachImport(r, name)
	})
}

// refuseRedefinition refuses to change the definition of tables that are imported. The import follows their rows under the
// definition that it has read.
func (s *Session) refuseRedefinition(r *exec.Execution) error {
	st := r.Facts.Statement
	if st.Kind != stmt.DDL || st.Features&stmt.TemporaryTable != 0 {
		return nil
	}
	if slices.ContainsFunc(st.Tables, func(name stmt.TableName) bool { return s.isImported(r, r.FullName(name)) }) {
		return ddl.Moving("changing the definition of a table that is imported")
	}
	return nil
}

// isImported reports whether an import shards the table.
func (s *Session) isImported(r *exec.Execution, name catalog.TableName) bool {
	return slices.ContainsFunc(r.Snapshot.Map.Importing(), func(t string) bool { return strings.EqualFold(t, name.String()) })
}

// mayReachImport reports whether a statement that names the table may read or write an imported one. An undeclared table may be a
// view, or may have triggers.
func (s *Session) mayReachImport(r *exec.Execution, name stmt.TableName) bool {
	full := r.FullName(name)
	if s.isImported(r, full) {
		return true
	}
	if t, err := r.Snapshot.Catalog.Find(full); err == nil && t != nil && t.Kind != catalog.Single {
		return false // a declared table that is not imported
	}
	return !r.Snapshot.Catalog.Alone(full)
}
