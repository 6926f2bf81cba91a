package session

import (
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/session/fence"
	"locus/proxy/session/kept"
	"locus/proxy/snapshot"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// request is one execution of one statement.
type request struct {
	plan     plan.Plan
	facts    *plan.Facts // the plan's
	values   *plan.Values
	snapshot *snapshot.Snapshot
	// statement is set for prepared statements, with the client's parameters in
	// Session.params.
	statement *kept.Statement
	// payload is the client's own command.
	payload []byte
	// textual is what PREPARE was given, of an EXECUTE that the shard runs itself.
	textual *kept.Text
	// cursor: the client asks for one, and the statement can have it.
	cursor bool
	// outside: it takes no part in the transaction.
	outside bool
	fence.Admission
	fares faring // of one on moving genes, how it fares
	// code is the error that a shard answered with, 0 if none did.
	code uint16
}

// follow has the statement run by another plan.
func (r *request) follow(p plan.Plan) { r.plan, r.facts = p, p.About() }

// onBehalf is the request of a text that is run as a part of another statement.
func onBehalf(of *request, p plan.Plan, v *plan.Values) *request {
	return &request{plan: p, facts: p.About(), snapshot: of.snapshot, Admission: of.Admission, values: v}
}

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
	s.beginTrace(&s.lexed)
	err := s.runLexed(payload)
	s.ended(&s.lexed, err)
	return err
}

func (s *Session) runLexed(payload []byte) error {
	if s.unkept != nil {
		return s.writeError(s.unkept)
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
	p, err := s.planOf(w, &s.lexed)
	if err != nil {
		return s.writeError(err)
	}
	s.args.Reset(&s.lexed, nil)
	s.args.Foreign = s.vars.Foreign
	s.values = plan.Values{Args: &s.args, InsertID: s.vars.InsertID}
	return s.finish(s.observed(&request{plan: p, facts: p.About(), values: &s.values, snapshot: w, payload: payload}))
}

// finish writes what concerns the statement alone to the client. What ends the
// session goes up.
func (s *Session) finish(err error) error {
	switch e := err.(type) { //nolint:errorlint // the two types are never wrapped
	case nil:
		return nil
	case *reply.GoneError, *reply.PartialError:
		return e
	}
	return s.writeError(err)
}

// planOf finds the plan for a text, or makes it.
func (s *Session) planOf(w *snapshot.Snapshot, l *stmt.Lexed) (plan.Plan, error) {
	l.Key = plan.AppendContext(l.Key, s.vars.Settings.Database(), s.vars.Mode)
	l.Key = plan.AppendRights(l.Key, s.account.Rights)
	l.Key = plan.AppendTemporary(l.Key, s.conns.TemporaryTables())
	if !l.Uncacheable && l.Err == nil {
		if p := w.Plans.Get(l.Key); p != nil {
			return p, nil
		}
	}
	s.Counts.Parsed.Add(1)
	p, err := s.planned(w, l, s.planContext(w))
	if err != nil {
		return nil, err
	}
	if p.About().Cacheable {
		w.Plans.Put(l.Key, p)
	}
	return p, nil
}

// run runs a statement where its plan says.
func (s *Session) run(r *request) error {
	if r.facts.Reserved && !s.account.Admin {
		return s.reserved()
	}
	if r.snapshot.Flavor.KeepsWarnings() && namesNoTable(r) {
		defer s.vars.Back(s.vars.Aside())
	}
	_, rewritten := r.plan.(*plan.Rewritten)
	if k := r.facts.Statement.Kind; k != stmt.ShowWarnings && k != stmt.Set && k != stmt.Diagnose && !rewritten {
		s.vars.Conditions = s.vars.Conditions[:0]
	}
	if err := s.account.MayRunUnfiltered(r.facts, &s.vars.Diagnostics); err != nil {
		return err
	}
	if takesItsTime(r.facts.Statement) {
		s.interrupts.Unlimited()
	}
	plain := s.readsPlainly(r.facts)
	s.replica, s.partial, s.absent.Shards = plain && s.vars.Reads != sysvars.Primary, plain && s.vars.Partial, s.absent.Shards[:0]
	if s.conns.Next() != "" {
		return s.runNext(r)
	}
	return s.runPlaced(r)
}

// namesNoTable tells the statements that leave MariaDB the warnings of the one before,
// unless they have some of their own.
func namesNoTable(r *request) bool {
	switch r.facts.Statement.Kind {
	case stmt.Begin, stmt.Commit, stmt.Rollback, stmt.Savepoint, stmt.Use, stmt.Unlock:
		return true
	case stmt.TextPrepare:
		verb := r.facts.Statement.Prepared.Verb
		return verb == "prepare" || verb == "deallocate"
	case stmt.Select:
		_, anywhere := r.plan.(*plan.AnyShard)
		return anywhere && sysvars.Tableless(r.facts.Statement)
	default:
		return false
	}
}

// runNext runs a statement for which SET TRANSACTION may have been meant: it was
// for one transaction, and a statement outside of one is one of its own.
func (s *Session) runNext(r *request) error {
	next := s.conns.Next()
	err := s.runPlaced(r)
	defer s.conns.Untell()
	own := !r.facts.Metadata
	switch r.plan.(type) {
	case *plan.Local, *plan.Rewritten:
		own = false
	}
	reads := !namesNone(r.facts.Statement) // else it is no transaction
	switch {
	case !own || !reads || s.conns.Running():
	case s.unbegun(r, err):
		s.conns.SetNext(next)
	case s.vars.Autocommit:
		s.conns.SetNext("")
	}
	return err
}

// namesNone tells a statement that begins no transaction, as it reads no table.
func namesNone(st *stmt.Statement) bool {
	return sysvars.Tableless(st) || st.Verb == "DO" && len(st.Tables) == 0
}

// unbegun tells a statement that was refused before it began a transaction of its
// own, so that SET TRANSACTION still stands.
func (s *Session) unbegun(r *request, err error) bool {
	code := r.code
	switch {
	case txn.IsRefusal(err):
		code = exec.CodeOf(err)
	case err != nil:
		return !mayHaveBegun(err)
	}
	if r.snapshot.Flavor.BeginsBeforeColumns() && r.statement == nil && code == mysql.ER_BAD_FIELD_ERROR {
		return false // its tables were opened; a prepared one is refused before
	}
	return r.facts.Statement.Effects&stmt.Commits == 0 && slices.Contains(beforeBeginning, code)
}

// mayHaveBegun tells an error that a server may have given to a statement under way.
func mayHaveBegun(err error) bool {
	_, lost := errors.AsType[*backend.LostError](err)
	return lost
}

// beforeBeginning are the numbers of what servers refuse as they read a statement
// or open its tables: no database, unknown tables and columns, syntax, rights, tables
// that are not locked, and writes in a transaction that is read only.
var beforeBeginning = []uint16{1044, 1046, 1049, 1050, 1051, 1052, 1054, 1064, 1066, 1099, 1100, 1109, 1136, 1142, 1143, 1146, 1192, 1305, 1792}

func (s *Session) runPlaced(r *request) error {
	if s.conns.ReservesAny() {
		if err := s.withinXA(r); err != nil {
			return err
		}
	}
	if err := s.notLocked(r); err != nil {
		return err
	}
	if r.facts.Statement.Kind == stmt.XA {
		if err := s.admitUnsharded(r); err != nil {
			return err
		}
		return s.runXA(r)
	}
	switch p := r.plan.(type) {
	case *plan.Read:
		return s.runRead(r, p)
	case *plan.Change:
		return s.runChange(r, p)
	case *plan.Stamped:
		return s.runStamped(r, p)
	case *plan.InsertQuery:
		return s.runInsertQuery(r, p)
	case *plan.Load:
		return s.runLoad(r, p)
	case *plan.Rewritten:
		return s.runRewritten(r)
	}
	if err := s.admitUnsharded(r); err != nil {
		return err
	}
	switch p := r.plan.(type) {
	case *plan.Local:
		return s.local(r, p)
	case *plan.OneShard:
		switch {
		case p.Hides:
			return s.runHiding(r)
		case p.Alike:
			return s.runAlike(r, p)
		}
		return s.runOn(r, p.Shard, p.Added)
	case *plan.AnyShard:
		return s.runAny(r)
	case *plan.Global:
		return s.runGlobal(r, p)
	case *plan.Definition:
		return s.runDefinition(r)
	case *plan.Maintenance:
		return s.runMaintenance(r, p)
	case *plan.Schema:
		return s.runSchema(r)
	}
	return &plan.Refusal{Code: plan.Unsupported, Message: "this statement"}
}

// placesNothing tells whether a read that any shard can answer is kept out of the
// transaction. With XA, where the second shard costs, that are those of no rows.
func (s *Session) placesNothing(f *plan.Facts) bool {
	switch s.Spanning {
	case txn.Single:
		return !f.Writes && f.Statement.Features&stmt.Locking == 0
	case txn.XA:
		blocks := f.Statement.Blocks
		return s.conns.Begun() && !mayWrite(f) && len(blocks) == 1 && len(blocks[0].Tables) == 0
	case txn.Multi:
	}
	return false
}

// runRead runs a SELECT where the genes of its keys are.
func (s *Session) runRead(r *request, p *plan.Read) error {
	err := p.Route(r.snapshot.Map, r.values, &s.route)
	if err == nil {
		if err := s.admitRoute(r); err != nil {
			return err
		}
		if len(s.route.Shards) > 1 {
			return s.runScatter(r, p)
		}
		if len(s.route.Shards) == 0 {
			return s.runNowhere(r, nil)
		}
		var shard router.ShardName
		var added []plan.Splice
		if shard, added, err = s.alone(r, &p.Keyed, nil); err == nil {
			return s.runOn(r, shard, added)
		}
	}
	if p.Gather != nil {
		return s.runGathered(r, p.Gather)
	}
	return err
}

// runChange runs an UPDATE or DELETE where the genes of its keys are.
func (s *Session) runChange(r *request, p *plan.Change) error {
	if err := p.Route(r.snapshot.Map, r.values, &s.route); err != nil {
		return err
	}
	if err := s.admitRoute(r); err != nil {
		return err
	}
	if len(s.route.Shards) > 1 {
		return s.runSpread(r, p)
	}
	if len(s.route.Shards) == 0 {
		return s.runNowhere(r, p.Added)
	}
	shard, added, err := s.alone(r, &p.Keyed, p.Added)
	if err != nil {
		return err
	}
	return s.runOn(r, shard, added)
}

// alone gives the one shard of a route, and what is added to the text there.
func (s *Session) alone(r *request, k *plan.Keyed, added []plan.Splice) (router.ShardName, []plan.Splice, error) {
	m := r.snapshot.Map
	shard := s.route.Shards[0]
	added, err := s.ownRows(r, k, shard, added)
	return m.Shard(shard), added, err
}
