package session

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// runDefinition runs ALTER TABLE and its kin, which no transaction can undo, on
// every shard, one after the other. After a failure in between it may be repeated:
// a shard that says it has been done there already is passed over, if another one
// has something to do.
func (s *Session) runDefinition(r *request) error {
	if !r.snapshot.Map.Moving().Empty() {
		return &plan.Refusal{Code: plan.Unsupported, Message: "changing the definition of a table while genes are on the move: wait until locus jobs shows the move to be over"}
	}
	if err := s.conns.Commit(); err != nil {
		return err
	}
	var total wire.OK
	var done []string
	var before error // of the first shard that has it already
	var passed []passedOver
	for _, shard := range r.snapshot.Catalog.Shards {
		ok, err := s.define(r, shard, len(done) == 0)
		if already := alreadyDefined(err); already != nil {
			passed = append(passed, passedOver{shard, already})
			if before == nil {
				before = err
			}
			continue
		}
		if err != nil {
			s.reread(done)
			return undefined(done, shard, err)
		}
		total.AffectedRows = max(total.AffectedRows, ok.AffectedRows)
		total.Warnings = max(total.Warnings, ok.Warnings)
		done = append(done, string(shard))
	}
	if len(done) == 0 && before != nil {
		return before
	}
	s.reread(done)
	if err := s.alike(r, router.ShardName(done[0]), passed); err != nil {
		return undefined(done, passed[0].shard, err)
	}
	for _, p := range passed {
		s.vars.Note(p.said.Code, "passed over shard "+string(p.shard)+": "+p.said.Message)
	}
	total.Warnings += uint16(len(passed))
	return s.done(total)
}

// define runs the definition on one shard.
func (s *Session) define(r *request, shard router.ShardName, warn bool) (wire.OK, error) {
	l, err := s.conns.Acquire(shard, 0)
	if err != nil {
		return wire.OK{}, err
	}
	s.tellLeft(r)
	ok, err := l.Conn.Run(s.ctx, string(r.values.Text), left(r.facts))
	if err != nil {
		l.Fail(err)
		return ok, err
	}
	if warn && ok.Warnings > 0 {
		s.keepWarnings(l)
	}
	l.Done(l.Conn.Status())
	return ok, nil
}

// reread has the tables read anew if some shard has changed them.
func (s *Session) reread(done []string) {
	if len(done) == 0 || s.Redefined == nil {
		return
	}
	if err := s.Redefined(s.interrupts.Waits()); err != nil {
		s.vars.Warn("the definition is made, and not known to every proxy yet: " + err.Error())
	}
}

// defines tells a statement on one shard after which names may mean something else.
// Temporary tables are the session's alone.
func (s *Session) defines(r *request) bool {
	st := r.facts.Statement
	switch {
	case st.Kind == stmt.CreateSchema:
		return st.Features&stmt.DropsSchema != 0
	case st.Kind != stmt.DDL && st.Kind != stmt.Other || st.Features&(stmt.TemporaryTable|stmt.SwitchesKeys) != 0:
		return false
	case st.Verb == "DROP" && len(st.Dropped) > 0 && !slices.ContainsFunc(st.Dropped, func(t stmt.TableName) bool { return !slices.Contains(s.conns.TemporaryTables(), s.fullName(r, t)) }):
		return false
	}
	return st.Verb == "CREATE" || st.Verb == "ALTER" || st.Verb == "DROP" || st.Verb == "RENAME"
}

// redefining is an ending that has all proxies know of a definition before the client
// hears that it is made.
func (s *Session) redefining(shard router.ShardName, next ending) ending {
	return func(dst, packet []byte) ([]byte, error) {
		if packet[wire.HeaderSize] != mysql.ERR_HEADER {
			s.reread([]string{string(shard)})
		}
		if next != nil {
			return next(dst, packet)
		}
		return append(dst, packet...), nil
	}
}

// alreadyDefined tells a server's error that says that there is nothing left to do.
func alreadyDefined(err error) *mysql.MyError {
	e, ok := errors.AsType[*mysql.MyError](err)
	if !ok {
		return nil
	}
	if slices.Contains(nothingLeft, e.Code) {
		return e
	}
	return nil
}

// nothingLeft are the servers' numbers for: unknown table, no such table, duplicate
// column, duplicate key, can't drop, unknown column, multiple primary key, duplicate
// foreign key, duplicate check.
var nothingLeft = []uint16{1051, 1146, 1060, 1061, 1091, 1054, 1068, 1826, 3822}

// undefined says of a definition that failed on a shard where it was done.
func undefined(done []string, at router.ShardName, err error) error {
	if len(done) == 0 {
		return err
	}
	text := "on shard " + string(at) + ": " + err.Error() + "; it was done on " + strings.Join(done, ", ") + ": mend the reason and repeat the statement, which passes over the shards where it was done"
	if e, ok := errors.AsType[*mysql.MyError](err); ok {
		return fail(e.Code, e.State, "%s", text)
	}
	return fail(mysql.ER_UNKNOWN_ERROR, stateGeneral, "%s", text)
}
