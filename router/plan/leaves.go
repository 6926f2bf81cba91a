package plan

import (
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// Leaves says what a statement may leave behind on the connection that it runs on.
type Leaves uint8

const (
	// LeavesState: whatever a connection can have, as far as the statement says so
	// itself. What nobody has looked at does.
	LeavesState Leaves = iota
	// LeavesNothing that others could see: reads and writes of tables that run no
	// code of anybody's, with functions that are known.
	LeavesNothing
	// LeavesVariables: the user variables that it names, and nothing else.
	LeavesVariables
	// LeavesRoutine: it runs code that somebody has stored, a function, a view over
	// one, or a trigger, and that may leave any state.
	LeavesRoutine
	// LeavesUnknown: a procedure, or a text that is made while it runs. What those
	// leave, no reset takes away with certainty.
	LeavesUnknown
)

// leaves classifies a statement that was read.
func leaves(s *stmt.Statement, ctx Context) Leaves {
	const state = stmt.NamedLock | stmt.TemporaryTable | stmt.Program
	if s.Kind == stmt.Call {
		return LeavesUnknown
	}
	worst, trace := LeavesNothing, ctx.Catalog.WriteTrace
	if s.Kind == stmt.Select || s.Kind == stmt.Show {
		trace = ctx.Catalog.ReadTrace
	}
	if s.Features&stmt.UnknownFunction != 0 {
		worst = LeavesRoutine
	}
	for _, t := range tablesOf(s) {
		worst = worse(worst, ctx.leavesTable(t, trace))
	}
	switch s.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete, stmt.Show, stmt.LoadData:
	default:
		return worse(worst, LeavesState)
	}
	switch {
	case s.Features&state != 0, s.Features&stmt.SetsUserVariable != 0 && len(s.Assigns) == 0:
		return worse(worst, LeavesState)
	case s.Features&stmt.SetsUserVariable != 0:
		return worse(worst, LeavesVariables)
	}
	return worst
}

// readsForRoutines has stored code find the session's LAST_INSERT_ID(), and not that
// of whoever had the connection before, and the session learn what it is afterwards.
func (p *Plan) readsForRoutines() {
	if (p.Leaves == LeavesRoutine || p.Leaves == LeavesUnknown) && (p.Place == Fixed || p.Place == Any) {
		p.ReadsInsertID, p.KeepsInsertID = true, true
	}
}

// worse gives what a reset takes care of rather than what it need not.
func worse(a, b Leaves) Leaves {
	rank := func(l Leaves) int {
		return [...]int{LeavesNothing: 0, LeavesVariables: 1, LeavesState: 2, LeavesRoutine: 3, LeavesUnknown: 4}[l]
	}
	if rank(a) >= rank(b) {
		return a
	}
	return b
}

// leavesTable is what reading and changing a table may leave: views may call
// functions, and tables have triggers.
func (c Context) leavesTable(t stmt.TableName, trace func(catalog.TableName) catalog.Trace) Leaves {
	schema := c.schemaOf(t)
	switch {
	case strings.EqualFold(schema, "sys"): // its views keep settings in user variables
		return LeavesRoutine
	case systemSchema(schema), strings.EqualFold(schema, stmt.Own):
		return LeavesNothing
	}
	switch trace(catalog.TableName{Schema: schema, Name: t.Name}) {
	case catalog.Traceless:
		return LeavesNothing
	case catalog.Traced:
		return LeavesRoutine
	case catalog.Untold:
	}
	return LeavesState
}

// clauses are words in front of a parenthesis that call nothing, in texts that the
// parser doesn't know.
var clauses = words("json_table", "columns", "exists", "over", "any", "all", "some", "select", "from", "where", "on", "by", "union", "into", "count", "sum",
	"min", "max", "avg", "group_concat", "json_arrayagg", "json_objectagg", "nested", "row", "rows", "table", "view", "key", "index", "primary", "unique")

// leaves classifies a text that the parser can't read: it runs somebody's code unless
// nothing is called in it that isn't known, and no word is the name of anything that
// does.
func (u unread) leaves(s *stmt.Statement, ctx Context) Leaves {
	switch {
	case s.Kind == stmt.Call:
		return LeavesUnknown
	case s.Features&stmt.UnknownFunction != 0:
		return LeavesRoutine
	}
	worst := LeavesState
	for i, w := range u.bare {
		name := catalog.TableName{Schema: ctx.Schema, Name: w}
		if u.called[i] && !stmt.Computes(w) && !clauses[w] || ctx.Catalog.WriteTrace(name) == catalog.Traced {
			worst = LeavesRoutine
		}
	}
	return worst
}
