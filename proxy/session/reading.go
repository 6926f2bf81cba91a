package session

import (
	"locus/proxy/exec"
	"locus/proxy/kept"
	"locus/proxy/snapshot"
	"locus/router/plan"
	"locus/router/stmt"
)

// reading returns how the session reads a text now.
func (s *Session) reading() kept.Reading {
	return kept.Reading{Settings: s.vars.Settings.Reading(), Mode: s.vars.Mode, Foreign: s.vars.Foreign}
}

// preparedContext returns the context in which a text with such a reading is planned.
func (s *Session) preparedContext(w *snapshot.Snapshot, r *kept.Reading) plan.Context {
	ctx := s.planContext(w)
	ctx.Schema = r.Settings.Database()
	return ctx
}

// canRestore reports whether a connection can be switched to the reading for a statement, and back. It can't be switched back to
// no current database.
func (s *Session) canRestore(r *kept.Reading, st *stmt.Statement) bool {
	then, now := r.Settings.Database(), s.vars.Settings.Database()
	return then == now || then != "" && now != "" || then == "" && st.Effects&stmt.ReadsSchema == 0
}

// readsAlike reports whether shards answer a text that was prepared earlier as the server would on which it was prepared, and as
// it was planned. MySQL itself re-prepares a statement for other types of its parameters, and after ALTER TABLE. It then reads
// the text under the current sql_mode, and MariaDB under that of PREPARE. Both use the current character set.
func (s *Session) readsAlike(w *snapshot.Snapshot, r *kept.Reading, text string, p plan.Plan) bool {
	switch {
	case !s.engine.ReadsDifferently(r):
		return true
	case s.vars.Mode != r.Mode && !w.Flavor.PreparesByMode(), !exec.IsASCII(text) && !s.vars.Settings.SameNames(r.Settings):
		return false
	}
	return keepsReading(p) && s.canRestore(r, p.About().Statement)
}

// keepsReading reports whether shards run the statements of a plan as they prepared them, or the plan's statement is not read
// again.
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
