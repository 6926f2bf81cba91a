package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// Leaves is the session state that a statement may leave on the connection that it runs on.
type Leaves uint8

const (
	// LeavesState is any state of a connection that the statement itself names. It is the zero value, for statements that were
	// not analyzed.
	LeavesState Leaves = iota
	// LeavesNothing is no state that others could see: reads and writes of tables that run no stored code, with known functions.
	LeavesNothing
	// LeavesVariables is the user variables that the statement names, and nothing else.
	LeavesVariables
	// LeavesRoutine is any state, because the statement runs stored code: a function, a view over one, or a trigger.
	LeavesRoutine
	// LeavesUnknown is any state, because the statement runs a procedure, or a text that is built while it runs. No reset
	// certainly removes the state that these leave.
	LeavesUnknown
)

// String returns the name for logs.
func (l Leaves) String() string {
	return [...]string{LeavesState: "state", LeavesNothing: "nothing", LeavesVariables: "variables", LeavesRoutine: "routine", LeavesUnknown: "unknown"}[l]
}

// leaves returns the class of a statement that the parser has read.
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
	case !traced(s), s.Limited:
		return worse(worst, LeavesState)
	case s.Features&state != 0, s.Features&stmt.SetsUserVariable != 0 && len(s.Assigns) == 0:
		return worse(worst, LeavesState)
	case s.Features&stmt.SetsUserVariable != 0:
		return worse(worst, LeavesVariables)
	}
	return worst
}

// LeavesUnder returns the state that a statement may leave, by a catalog that is newer than the one that it was planned under.
func LeavesUnder(s *stmt.Statement, now *catalog.Catalog, schema string) Leaves {
	return leaves(s, Context{Catalog: now, Schema: schema})
}

// traced reports whether statements of this kind leave only the state that their tables, functions and assignments leave.
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

// leavesDefinition returns the state that a definition leaves on its connection by the functions that it calls. ALTER TABLE calls
// the functions in defaults to fill columns. The next value of a sequence, for example, stays with the connection.
func leavesDefinition(s *stmt.Statement) Leaves {
	if slices.ContainsFunc(s.Called, func(call stmt.Called) bool { return !stmt.Computes(strings.ToLower(call.Name)) }) {
		return LeavesState
	}
	return LeavesNothing
}

// trackInsertID sets the facts so that stored code reads the session's LAST_INSERT_ID(), and not the ID of the previous
// session on the connection. The session then also reads the value that the code leaves.
func trackInsertID(p Plan) {
	switch p.(type) {
	case *OneShard, *AnyShard:
		if f := p.About(); f.Leaves == LeavesRoutine || f.Leaves == LeavesUnknown {
			f.ReadsInsertID, f.KeepsInsertID = true, true
		}
	}
}

// worse returns the one of two that requires the more thorough reset.
func worse(a, b Leaves) Leaves {
	rank := func(l Leaves) int {
		return [...]int{LeavesNothing: 0, LeavesVariables: 1, LeavesState: 2, LeavesRoutine: 3, LeavesUnknown: 4}[l]
	}
	if rank(a) >= rank(b) {
		return a
	}
	return b
}

// leavesCalls returns the state that the functions leave that are not built in. It is nothing if their bodies show that.
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

// leavesTable returns the state that a statement may leave by using a table. Views may call functions, and tables have triggers.
func (c Context) leavesTable(s *stmt.Statement, t stmt.TableName) Leaves {
	trace := c.Catalog.WriteTrace
	if s.Kind == stmt.Select || s.Kind == stmt.Show {
		trace = c.Catalog.ReadTrace
	}
	schema := c.schemaOf(t)
	switch {
	case strings.EqualFold(schema, "sys"): // the views of schema sys keep settings in user variables
		return LeavesRoutine
	case systemSchema(schema), strings.EqualFold(schema, stmt.Own):
		return LeavesNothing
	}
	switch trace(catalog.TableName{Schema: schema, Name: t.Name}) {
	case catalog.Traceless:
		return LeavesNothing
	case catalog.Traced:
		return LeavesRoutine
	case catalog.UnknownTrace:
		if s.Kind == stmt.Show { // the server has no such table
			return LeavesNothing
		}
	}
	return LeavesState
}

// clauses are words before a parenthesis that are no calls, or calls that leave nothing, in texts that the parser doesn't know.
var clauses = words("json_table", "columns", "exists", "over", "any", "all", "some", "select", "from", "where", "on", "by", "union", "into", "count", "sum",
	"min", "max", "avg", "group_concat", "json_arrayagg", "json_objectagg", "nested", "row", "rows", "table", "view", "key", "index", "primary", "unique", "sleep")

// leaves returns the class of a text that the parser can't read. The text may run stored code if it calls an unknown function, or
// if a word is the name of something that runs such code.
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

// definesProgram reports whether the text is CREATE or DROP of a routine or trigger, which doesn't run the program. CREATE EVENT
// is not included, because the expressions of its schedule are evaluated.
func (u unread) definesProgram() bool {
	if u.verb() > 0 || len(u.bare) < 2 {
		return false
	}
	object, _ := u.createdObject()
	return u.bare[0] == "create" && object == "program" || u.dropsProgram()
}

// definesTable reports whether the text is CREATE TABLE without a query, which runs no stored code. A word before a parenthesis
// is then the table's name, a type, or an index.
func (u unread) definesTable() bool {
	if u.verb() > 0 || len(u.bare) < 3 || u.bare[0] != "create" || u.bare[1] != "table" {
		return false
	}
	return !slices.ContainsFunc(u.bare[2:], func(w string) bool { return queries[w] })
}

// queries are words of a query that may follow CREATE TABLE, and words that read a sequence.
var queries = words("select", "table", "values", "nextval", "next", "previous")
