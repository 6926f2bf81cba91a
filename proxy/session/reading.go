package session

import (
	"locus/proxy/backend"
	"locus/proxy/snapshot"
	"locus/router/plan"
	"locus/router/stmt"
)

// readThen is how a text was read when it was prepared. As on the servers it stays
// so: whatever the client sets between PREPARE and EXECUTE, the statement means
// what it meant.
type readThen struct {
	settings *backend.Settings
	mode     stmt.Mode
	foreign  bool
	// under is present with what decides the reading as it was. They are kept for
	// the next execution, which mostly finds them as they are.
	present, under *backend.Settings
}

// reading is how a text is read now.
func (s *Session) reading() readThen {
	return readThen{settings: s.vars.Settings.Reading(), mode: s.vars.Mode, foreign: s.vars.Foreign}
}

// lightReading is how much the settings may hold that are kept for the next execution, in
// bytes: each of thousands of statements may have been executed under others.
const lightReading = 1 << 10

// on gives the settings under which a connection that carries others is to have
// the statement prepared.
func (r *readThen) on(present *backend.Settings) *backend.Settings {
	if r.present != present && present != nil {
		under := present.ReadAs(r.settings)
		if present.Size() > lightReading {
			return under
		}
		r.present, r.under = present, under
	}
	if present == nil {
		return nil
	}
	return r.under
}

// past tells whether a text would be read otherwise now.
func (s *Session) past(r *readThen) bool { return r.on(s.vars.Settings) != s.vars.Settings }

// contextThen is what such a text is planned in.
func (s *Session) contextThen(w *snapshot.Snapshot, r *readThen) plan.Context {
	ctx := s.planContext(w)
	ctx.Schema = r.settings.Database()
	return ctx
}

// returns tells whether a connection can be brought to such a reading for a
// statement, and back: to no current database it can't be.
func (s *Session) returns(r *readThen, st *stmt.Statement) bool {
	then, now := r.settings.Database(), s.vars.Settings.Database()
	return then == now || then != "" && now != "" || then == "" && st.Effects&stmt.ReadsSchema == 0
}

// schemaOf is the default database of a statement.
func (s *Session) schemaOf(r *request) string {
	switch {
	case r.statement != nil:
		return r.statement.read.settings.Database()
	case r.textual != nil:
		return r.textual.read.settings.Database()
	}
	return s.vars.Settings.Database()
}

// readsAsThen tells whether shards answer a text that was read at another time as the
// server would on which it was prepared, and as it was planned. Where MySQL prepares
// a statement anew, of itself, for other types of its parameters or after ALTER
// TABLE, it reads it by the sql_mode of now; MariaDB by that of PREPARE. Both take
// the character set of now.
func (s *Session) readsAsThen(w *snapshot.Snapshot, r *readThen, text string, p plan.Plan) bool {
	switch {
	case !s.past(r):
		return true
	case s.vars.Mode != r.mode && !w.Flavor.PreparesByMode(), !isASCII(text) && !s.vars.Settings.SameNames(r.settings):
		return false
	}
	return keepsReading(p) && s.returns(r, p.About().Statement)
}

// outlived refuses a statement that the session has to read again.
func outlived() error {
	return &plan.Refusal{Code: plan.Unsupported, Message: "it was prepared under another sql_mode, default database or character set, and locus would have to read it anew: prepare it again, or set what it was prepared under"}
}

// keepsReading tells the plans whose statements shards run as they prepared them,
// and those that are not looked at again.
func keepsReading(p plan.Plan) bool {
	switch p := p.(type) {
	case *plan.OneShard, *plan.AnyShard, *plan.Read, *plan.Change, *plan.Stamped, *plan.Rewritten:
		return true
	case *plan.Local:
		switch p.Statement.Kind {
		case stmt.Begin, stmt.Commit, stmt.Rollback, stmt.Savepoint, stmt.ShowWarnings, stmt.Unlock:
			return true
		default:
		}
	}
	return false
}
