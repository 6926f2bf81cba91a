package session

import (
	"slices"
	"strconv"
	"strings"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// leaves are the features of statements that may leave something behind on the
// connection that they ran on.
const leaves = stmt.NamedLock | stmt.TemporaryTable | stmt.SetsUserVariable | stmt.CalcFoundRows | stmt.UnknownFunction

func leavesState(st *stmt.Statement) bool {
	if st.Features&leaves != 0 {
		return true
	}
	switch st.Kind {
	case stmt.Call, stmt.Lock, stmt.Handler, stmt.DDL, stmt.XA:
		return true
	default:
		return false
	}
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
	if st.Features&stmt.UnknownFunction != 0 {
		s.learnAll(l)
	}
	if st.Kind == stmt.Call {
		s.pin(l, procedure)
		s.learn(l, st.ReadVariables)
		s.learnAll(l)
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

func (s *Session) stayForTables(l lease, r *request) {
	st := r.plan.Statement
	words := strings.Fields(strings.ToLower(string(r.values.Text[:min(len(r.values.Text), 200)])))
	switch {
	case st.Kind == stmt.Lock:
		s.pin(l, lockedTables)
	case st.Kind == stmt.Handler && slices.Contains(words, "open"):
		s.pin(l, handler)
		s.pins.handlers++
	case st.Kind == stmt.Handler && slices.Contains(words, "close"):
		if s.pins.has(handler) {
			if s.pins.handlers--; s.pins.handlers <= 0 {
				s.unpin(handler, l.conn)
			}
		}
	case st.Kind != stmt.DDL || len(words) == 0:
	case words[0] == "create" && st.Features&stmt.TemporaryTable != 0:
		s.pin(l, temporaryTable)
		name := "" // which is never dropped
		if len(st.Tables) > 0 {
			name = s.fullName(st.Tables[0])
		}
		s.pins.temporary = append(s.pins.temporary, name)
	case words[0] == "drop" && s.pins.has(temporaryTable):
		for _, t := range st.Tables {
			if i := slices.Index(s.pins.temporary, s.fullName(t)); i >= 0 {
				s.pins.temporary = slices.Delete(s.pins.temporary, i, i+1)
			}
		}
		if len(s.pins.temporary) == 0 {
			s.unpin(temporaryTable, l.conn)
		}
	}
}

func (s *Session) fullName(t stmt.TableName) string {
	if t.Schema == "" {
		t.Schema = s.settings.Database()
	}
	return strings.ToLower(t.Schema + "." + t.Name)
}

func (s *Session) readFoundRows(l lease) {
	rows, err := l.conn.Query(s.ctx, "SELECT FOUND_ROWS()")
	if err != nil || len(rows.Rows) != 1 {
		return
	}
	if n, err := strconv.ParseUint(string(rows.Rows[0][0]), 10, 64); err == nil {
		s.foundRows = n
	}
}

// stayForLocks pins the connection while it holds a named lock. Which locks a
// statement got or let go only the server knows: it is asked for all names that
// were asked for so far.
func (s *Session) stayForLocks(l lease, r *request) {
	if strings.Contains(strings.ToLower(string(r.values.Text)), "release_all_locks") {
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
	rows, err := l.conn.Query(s.ctx, "SELECT "+strings.Join(asked, ", "))
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
