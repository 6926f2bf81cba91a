package session

import (
	"locus/proxy/kept"
	"locus/proxy/snapshot"
	"locus/router/plan"
	"locus/router/stmt"
)

// reading is how a text is read now.
func (s *Session) reading() kept.Reading {
	return kept.Reading{Settings: s.vars.Settings.Reading(), Mode: s.vars.Mode, Foreign: s.vars.Foreign}
}

// past tells whether a text would be read otherwise now.
func (s *Session) past(r *kept.Reading) bool { return r.On(s.vars.Settings) != s.vars.Settings }

// contextThen is what such a text is planned in.
func (s *Session) contextThen(w *snapshot.Snapshot, r *kept.Reading) plan.Context {
	ctx := s.planContext(w)
	ctx.Schema = r.Settings.Database()
	return ctx
}

// returns tells whether a connection can be brought to such a reading for a
// statement, and back: to no current database it can't be.
func (s *Session) returns(r *kept.Reading, st *stmt.Statement) bool {
	then, now := r.Settings.Database(), s.vars.Settings.Database()
	return then == now || then != "" && now != "" || then == "" && st.Effects&stmt.ReadsSchema == 0
}

// readsAsThen tells whether shards answer a text that was read at another time as the
// server would on which it was prepared, and as it was planned. Where MySQL prepares
// a statement anew, of itself, for other types of its parameters or after ALTER
// TABLE, it reads it by the sql_mode of now; MariaDB by that of PREPARE. Both take
// the character set of now.
func (s *Session) readsAsThen(w *snapshot.Snapshot, r *kept.Reading, text string, p plan.Plan) bool {
	switch {
	case !s.past(r):
		return true
	case s.vars.Mode != r.Mode && !w.Flavor.PreparesByMode(), !isASCII(text) && !s.vars.Settings.SameNames(r.Settings):
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
