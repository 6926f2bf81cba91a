package session

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"locus/proxy/backend"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// left is what a connection is told that a statement leaves on it.
func left(p *plan.Plan) backend.Leaves { return lefts[p.Leaves] }

var lefts = [...]backend.Leaves{
	plan.LeavesState: backend.State, plan.LeavesNothing: backend.Nothing, plan.LeavesVariables: backend.Variables,
	plan.LeavesRoutine: backend.State, plan.LeavesUnknown: backend.Unknown,
}

// tellLeft logs a statement after which its connection is not lent on as it is, for who looks for what costs resets. It is told
// without its literals.
func (s *Session) tellLeft(r *request) {
	if r.plan.Leaves == plan.LeavesNothing || !s.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	s.Log.Debug("statement may leave state", "session", s.id, "leaves", r.plan.Leaves.String(), "statement", r.values.Lexed.Digest(digestText).Text)
}

// stay takes over what a statement left on its connection: what can be carried
// is read and carried from then on; for the rest the connection stays.
func (s *Session) stay(l lease, r *request, failed bool) {
	st := r.plan.Statement
	status := s.scanner.Status()
	if st.Features&stmt.CalcFoundRows != 0 && !failed {
		s.readFoundRows(l)
	}
	if st.Features&stmt.SetsUserVariable != 0 {
		s.learn(l, st.Assigns)
	}
	switch r.plan.Leaves {
	case plan.LeavesRoutine:
		s.stayForRoutine(l)
	case plan.LeavesUnknown:
		s.pin(l, procedure)
		s.learn(l, st.ReadVariables)
		s.learnAll(l)
	case plan.LeavesState, plan.LeavesNothing, plan.LeavesVariables:
	}
	if st.Features&stmt.NamedLock != 0 {
		s.stayForLocks(l, r)
	}
	switch {
	case failed:
	case st.Kind == stmt.XA:
		s.stayForXA(l, r)
	default:
		s.stayForTables(l, r)
	}
	l.conn.SetStatus(status)
}

// stayForRoutine keeps the connection on which stored code ran: it may have left
// whatever a connection can have, which is the session's, and nobody else's.
func (s *Session) stayForRoutine(l lease) {
	s.pin(l, routine)
	s.learnAll(l)
}

func (s *Session) stayForTables(l lease, r *request) {
	st := r.plan.Statement
	switch {
	case st.Kind == stmt.Lock:
		s.pin(l, lockedTables)
	case st.Handling != nil && st.Handling.Verb == "open":
		s.pin(l, handler)
		s.pins.handlers++
	case st.Handling != nil && st.Handling.Verb == "close":
		if s.pins.has(handler) {
			if s.pins.handlers--; s.pins.handlers <= 0 {
				s.unpin(handler, l.conn)
			}
		}
	case st.Verb == "CREATE" && st.Features&stmt.TemporaryTable != 0:
		s.pin(l, temporaryTable)
		s.madeTemporary(r)
	case s.pins.has(temporaryTable):
		s.lostTemporary(r, l)
	}
}

// temporary tells a statement that makes, drops or names temporary tables.
func (s *Session) temporary(r *request) bool {
	st := r.plan.Statement
	return st.Features&stmt.TemporaryTable != 0 || s.pins.has(temporaryTable) && slices.ContainsFunc(st.Tables, func(t stmt.TableName) bool {
		return slices.Contains(s.pins.temporary, s.fullName(r, t))
	})
}

// unknownTable stands for a temporary table whose name isn't known, so that it is
// never dropped as far as the session knows.
var unknownTable catalog.TableName

func (s *Session) madeTemporary(r *request) {
	st := r.plan.Statement
	if len(st.Created) == 0 {
		s.pins.temporary = append(s.pins.temporary, unknownTable)
	}
	for _, t := range st.Created {
		if name := s.fullName(r, t); !slices.Contains(s.pins.temporary, name) {
			s.pins.temporary = append(s.pins.temporary, name)
		}
	}
}

// lostTemporary forgets the temporary tables that a statement has dropped.
func (s *Session) lostTemporary(r *request, l lease) {
	st := r.plan.Statement
	for _, t := range st.Dropped {
		if i := slices.Index(s.pins.temporary, s.fullName(r, t)); i >= 0 {
			s.pins.temporary = slices.Delete(s.pins.temporary, i, i+1)
		}
	}
	for _, t := range st.Renamed {
		if i := slices.Index(s.pins.temporary, s.fullName(r, t)); i >= 0 {
			s.pins.temporary[i] = unknownTable
		}
	}
	if len(s.pins.temporary) == 0 {
		s.unpin(temporaryTable, l.conn)
	}
}

func (s *Session) fullName(r *request, t stmt.TableName) catalog.TableName {
	if t.Schema == "" {
		t.Schema = s.schemaOf(r)
	}
	return catalog.TableName{Schema: t.Schema, Name: t.Name}
}

func (s *Session) readFoundRows(l lease) {
	rows, err := l.conn.Own().Query(s.ctx, "SELECT FOUND_ROWS()")
	if err != nil || len(rows.Rows) != 1 {
		return
	}
	if n, err := strconv.ParseUint(string(rows.Rows[0][0]), 10, 64); err == nil {
		s.vars.FoundRows = n
	}
}

// stayForLocks pins the connection while it holds a named lock. Which locks a
// statement got or let go only the server knows: it is asked for all names that
// were asked for so far.
func (s *Session) stayForLocks(l lease, r *request) {
	if r.plan.Statement.Effects&stmt.ReleasesAllLocks != 0 {
		if s.pins != nil {
			s.pins.unnamed = false
		}
		_ = l.conn.Remark(s.ctx) // a connection that this breaks isn't lent again
	}
	var names []string
	unnamed := false
	if s.pins != nil {
		names, unnamed = s.pins.locks, s.pins.unnamed
	}
	for _, o := range r.plan.Statement.Locks {
		v := r.values.Operand(o)
		switch name := string(v.Text); {
		case v.Kind != stmt.String:
			unnamed = true
		case !slices.Contains(names, name):
			names = append(slices.Clip(names), name)
		}
	}
	held := s.heldLocks(l, names)
	if len(held) == 0 && !unnamed {
		s.unpin(namedLock, l.conn)
		return
	}
	s.pin(l, namedLock)
	s.pins.locks, s.pins.unnamed = held, unnamed
}

// heldLocks gives those of the names that the connection has locked; if the
// server doesn't say, all of them may be.
func (s *Session) heldLocks(l lease, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	asked := make([]string, len(names))
	for i, name := range names {
		asked[i] = "IS_USED_LOCK(" + backend.Quote(name) + ") <=> CONNECTION_ID()"
	}
	rows, err := l.conn.Own().Query(s.ctx, "SELECT "+strings.Join(asked, ", "))
	if err != nil || len(rows.Rows) != 1 {
		return names
	}
	var held []string
	for i, name := range names {
		if string(rows.Rows[0][i]) == "1" {
			held = append(held, name)
		}
	}
	return held
}
