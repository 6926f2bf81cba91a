package plan

import (
	"slices"
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

// String is what logs say.
func (l Leaves) String() string {
	return [...]string{LeavesState: "state", LeavesNothing: "nothing", LeavesVariables: "variables", LeavesRoutine: "routine", LeavesUnknown: "unknown"}[l]
}

// leaves classifies a statement that was read.
func leaves(s *stmt.Statement, ctx Context) Leaves {
	const state = stmt.NamedLock | stmt.TemporaryTable | stmt.Program
	if s.Kind == stmt.Call {
		return LeavesUnknown
	}
	worst := LeavesNothing
	if s.Features&stmt.UnknownFunction != 0 {
		worst = ctx.leavesCalls(s)
	}
	if s.Defines {
		return worse(worst, leavesDefinition(s))
	}
	for _, t := range TablesOf(s) {
		worst = worse(worst, ctx.leavesTable(s, t))
	}
	switch {
	case !traced(s):
		return worse(worst, LeavesState)
	case s.Features&state != 0, s.Features&stmt.SetsUserVariable != 0 && len(s.Assigns) == 0:
		return worse(worst, LeavesState)
	case s.Features&stmt.SetsUserVariable != 0:
		return worse(worst, LeavesVariables)
	}
	return worst
}

// traced tells the kinds of statements that leave what their tables, functions and assignments do, and nothing else.
func traced(s *stmt.Statement) bool {
	switch s.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete, stmt.Show, stmt.LoadData, stmt.Explain:
		return true
	case stmt.Other:
		return s.Verb == "DO"
	default:
		return false
	}
}

// leavesDefinition returns the state that a definition leaves on its connection by the functions that it calls. ALTER TABLE calls those
// of defaults to fill columns; the next value of a sequence, for example, stays with the connection.
func leavesDefinition(s *stmt.Statement) Leaves {
	if slices.ContainsFunc(s.Called, func(call stmt.Called) bool { return !stmt.Computes(strings.ToLower(call.Name)) }) {
		return LeavesState
	}
	return LeavesNothing
}

// readsForRoutines has stored code find the session's LAST_INSERT_ID(), and not that
// of whoever had the connection before, and the session learn what it is afterwards.
func readsForRoutines(p Plan) {
	switch p.(type) {
	case *OneShard, *AnyShard:
		if f := p.About(); f.Leaves == LeavesRoutine || f.Leaves == LeavesUnknown {
			f.ReadsInsertID, f.KeepsInsertID = true, true
		}
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

// leavesCalls is what the functions leave that are not the servers' own: nothing, if
// their bodies say so.
func (c Context) leavesCalls(s *stmt.Statement) Leaves {
	for _, call := range s.Called {
		if call.Own && !c.Catalog.Stores(c.Schema, call.Schema, call.Name) {
			continue
		}
		if c.Catalog.CallTrace(c.Schema, call.Schema, call.Name) != catalog.Traceless {
			return LeavesRoutine
		}
	}
	return LeavesNothing
}

// leavesTable is what a statement may leave by one of its tables: views may call
// functions, and tables have triggers.
func (c Context) leavesTable(s *stmt.Statement, t stmt.TableName) Leaves {
	trace := c.Catalog.WriteTrace
	if s.Kind == stmt.Select || s.Kind == stmt.Show {
		trace = c.Catalog.ReadTrace
	}
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
		if s.Kind == stmt.Show { // there is nothing to show
			return LeavesNothing
		}
	}
	return LeavesState
}

// clauses are words in front of a parenthesis that call nothing, or what leaves nothing, in texts that the
// parser doesn't know.
var clauses = words("json_table", "columns", "exists", "over", "any", "all", "some", "select", "from", "where", "on", "by", "union", "into", "count", "sum",
	"min", "max", "avg", "group_concat", "json_arrayagg", "json_objectagg", "nested", "row", "rows", "table", "view", "key", "index", "primary", "unique", "sleep")

// leaves classifies a text that the parser can't read: it runs somebody's code unless
// nothing is called in it that isn't known, and no word is the name of anything that
// does.
func (u unread) leaves(s *stmt.Statement, ctx Context) Leaves {
	switch {
	case s.Kind == stmt.Call:
		return LeavesUnknown
	case s.Features&stmt.UnknownFunction != 0:
		return LeavesRoutine
	case u.definesProgram():
		return LeavesNothing
	case u.definesTable():
		return LeavesState
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

// definesProgram tells CREATE and DROP of a routine or trigger, which runs nothing of it. What an event's schedule calls is
// run.
func (u unread) definesProgram() bool {
	if u.verb() > 0 || len(u.bare) < 2 {
		return false
	}
	object, _ := u.created()
	return u.bare[0] == "create" && object == "program" || u.dropsProgram()
}

// definesTable tells CREATE TABLE without a query, which runs nothing: what stands in front of a parenthesis there is the table's
// name, a type, an index.
func (u unread) definesTable() bool {
	if u.verb() > 0 || len(u.bare) < 3 || u.bare[0] != "create" || u.bare[1] != "table" {
		return false
	}
	return !slices.ContainsFunc(u.bare[2:], func(w string) bool { return queries[w] })
}

// queries are words that a query has which may stand behind CREATE TABLE, and those of a sequence's values.
var queries = words("select", "table", "values", "nextval", "next", "previous")
