package session

import (
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/snapshot"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// query answers COM_QUERY.
func (s *Session) query(payload []byte) error {
	if s.client.Capabilities&mysql.CLIENT_QUERY_ATTRIBUTES != 0 {
		var err error
		if payload, err = wire.WithoutAttributes(payload); err != nil {
			return s.writeError(wire.Errorf(wire.ErMalformed, wire.StateGeneral, "%v", err))
		}
	}
	if err := s.read(&s.lexed, payload[1:]); err != nil {
		return s.writeError(err)
	}
	payload = payload[:1+s.lexed.Length()]
	if s.lexed.Several && s.client.Capabilities&mysql.CLIENT_MULTI_STATEMENTS != 0 {
		return s.several(payload)
	}
	return s.runText(payload)
}

// runText runs the text that was read into lexed.
func (s *Session) runText(payload []byte) error {
	s.Counts.Statements.Add(1)
	s.observer.Read(&s.lexed)
	err := s.runLexed(payload)
	s.observer.Ended(&s.lexed, err)
	return err
}

// runLexed plans and runs the text in lexed, after it has inserted generated values.
func (s *Session) runLexed(payload []byte) error {
	if s.engine.Unreadable != nil {
		return s.writeError(s.engine.Unreadable)
	}
	w := s.snapshot()
	text, ok, err := s.numbered(w, &s.lexed)
	if err != nil {
		return s.writeError(err)
	}
	if ok {
		payload = append([]byte{payload[0]}, text...)
		if err := s.read(&s.lexed, payload[1:]); err != nil {
			return s.writeError(err)
		}
	}
	p, w, err := s.planOf(w, &s.lexed)
	if err != nil {
		return s.writeError(err)
	}
	s.args.Reset(&s.lexed, nil)
	s.args.Foreign = s.vars.Foreign
	s.values = plan.Values{Args: &s.args, InsertID: s.vars.InsertID, CellVariable: s.cellVariable, CellExpression: s.computedCell}
	s.execution = exec.Execution{Engine: s.engine, Plan: p, Facts: p.About(), Values: &s.values, Snapshot: w, Payload: payload}
	return s.finish(s.runObserved(&s.execution))
}

// runObserved is attempt with reports to the observer.
func (s *Session) runObserved(r *exec.Execution) error {
	s.observer.Planned(r.Facts)
	err := s.attempt(r)
	s.observer.Ran(r.Plan, r.Values, s.engine.Account.SlowStatement, err)
	return err
}

// finish writes an error that concerns the statement alone to the client. It returns an error that ends the session.
func (s *Session) finish(err error) error {
	switch e := err.(type) { //nolint:errorlint // the two types are never wrapped
	case nil:
		return nil
	case *reply.GoneError, *reply.PartialError:
		return e
	}
	return s.writeError(err)
}

// planOf returns the plan for a text, from the cache or newly made, and the snapshot under which it must run.
func (s *Session) planOf(w *snapshot.Snapshot, l *stmt.Lexed) (plan.Plan, *snapshot.Snapshot, error) {
	l.Key = plan.AppendContext(l.Key, s.vars.Settings.Database(), s.vars.Mode)
	l.Key = plan.AppendRights(l.Key, s.engine.Account.Rights)
	l.Key = plan.AppendTemporary(l.Key, s.conns.TemporaryTables())
	l.Key = plan.AppendShard(l.Key, s.vars.Shard)
	if !l.Uncacheable && l.Err == nil {
		if p := w.Plans.Get(l.Key); p != nil {
			return p, w, nil
		}
	}
	s.Counts.Parsed.Add(1)
	p, w, err := s.planned(w, l, s.planContext(w))
	if err != nil {
		return nil, w, err
	}
	if p.About().Cacheable {
		w.Plans.Put(l.Key, p)
	}
	return p, w, nil
}

// run runs a statement as its plan requires.
func (s *Session) run(r *exec.Execution) error {
	if err := s.mayRun(r.Facts); err != nil {
		return err
	}
	if r.Snapshot.Flavor.KeepsWarnings() && namesNoTable(r) {
		defer s.vars.RestoreConditions(s.vars.TakeConditions())
	}
	_, rewritten := r.Plan.(*plan.Rewritten)
	if k := r.Facts.Statement.Kind; k != stmt.ShowWarnings && k != stmt.Set && k != stmt.Diagnose && !rewritten {
		s.vars.Conditions = s.vars.Conditions[:0]
	}
	if err := s.engine.Account.MayRunUnfiltered(r.Facts, &s.vars.Diagnostics); err != nil {
		return err
	}
	if err := r.RefuseUnseenTables(); err != nil {
		return err
	}
	if isUnlimited(r.Facts.Statement) {
		s.interrupts.Unlimited()
	}
	defer s.engine.ClearStale()
	if s.conns.Next() != "" {
		return s.runNext(r)
	}
	return s.runPlaced(r)
}

// namesNoTable reports whether MariaDB keeps the warnings of the previous statement after this one, unless this one has its own.
func namesNoTable(r *exec.Execution) bool {
	switch r.Facts.Statement.Kind {
	case stmt.Begin, stmt.Commit, stmt.Rollback, stmt.Savepoint, stmt.Use, stmt.Unlock:
		return true
	case stmt.TextPrepare:
		verb := r.Facts.Statement.Prepared.Verb
		return verb == "prepare" || verb == "deallocate"
	case stmt.Select:
		_, anywhere := r.Plan.(*plan.AnyShard)
		return anywhere && sysvars.Tableless(r.Facts.Statement)
	default:
		return false
	}
}

// runNext runs a statement after a SET TRANSACTION, which may apply to it. SET TRANSACTION applies to one transaction, and a
// statement outside of a transaction is one by itself.
func (s *Session) runNext(r *exec.Execution) error {
	next := s.conns.Next()
	err := s.runPlaced(r)
	defer s.conns.DropCharacteristics()
	own := !r.Facts.Metadata
	switch r.Plan.(type) {
	case *plan.Local, *plan.Rewritten:
		own = false
	}
	reads := !namesNone(r.Facts.Statement) // a statement without a table begins no transaction
	switch {
	case !own || !reads || s.conns.Running():
	case r.Unbegun(err):
		s.conns.SetNext(next)
	case s.vars.Autocommit:
		s.conns.SetNext("")
	}
	return err
}

// namesNone reports whether a statement begins no transaction because it reads no table.
func namesNone(st *stmt.Statement) bool {
	return sysvars.Tableless(st) || st.Verb == "DO" && len(st.Tables) == 0
}

// runPlaced checks XA and locked tables. It runs the plans that concern the session alone, and definitions on all shards. The engine
// runs all others.
func (s *Session) runPlaced(r *exec.Execution) error {
	if s.conns.ReservesAny() {
		if err := s.withinXA(r); err != nil {
			return err
		}
	}
	if err := s.refuseUnlocked(r); err != nil {
		return err
	}
	if r.Facts.Statement.Kind == stmt.XA {
		if err := r.AdmitUnsharded(); err != nil {
			return err
		}
		return s.runXA(r)
	}
	switch p := r.Plan.(type) {
	case *plan.Rewritten:
		return s.runRewritten(r)
	case *plan.Local:
		if err := r.AdmitUnsharded(); err != nil {
			return err
		}
		return s.local(r, p)
	case *plan.Definition:
		if err := r.AdmitUnsharded(); err != nil {
			return err
		}
		return s.runDefinition(r)
	case *plan.Schema:
		if err := r.AdmitUnsharded(); err != nil {
			return err
		}
		return s.runSchema(r)
	}
	if s.Definitions.Redefined != nil && r.Facts.Writes && s.defines(r) {
		if p, is := r.Plan.(*plan.OneShard); is && s.locksForTrigger(r) {
			return s.runTrigger(r, p.Shard)
		}
		r.Defining = s.redefining(r)
	}
	return r.Run()
}

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
