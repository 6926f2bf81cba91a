package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// definition is one of CREATE TABLE, ALTER TABLE and their kin under way, of tables that
// are on every shard. No transaction can undo it.
type definition struct {
	*Session
	r      *request
	shards []defined
}

// defined is what has become of it on one shard.
type defined struct {
	txn.Lease
	ok  wire.OK
	err error
}

// runDefinition runs a definition on every shard at once, one of a table after the other.
// It begins on none before all have answered that they are there. A table that is made on
// some shards alone is dropped there again. Of everything else the error says what stands
// where, and the statement may be repeated: a shard that says it has been done there already
// is passed over, if another one has something to do.
func (s *Session) runDefinition(asked *request) error {
	r := new(request) // the one asked for stays off the heap, where nothing is defined
	*r = *asked
	d := &definition{Session: s, r: r}
	if err := d.mayRun(); err != nil {
		return err
	}
	if err := s.conns.Commit(); err != nil {
		return err
	}
	turn, err := s.takeTurn(r)
	if err != nil {
		return s.undefined(err)
	}
	defer turn()
	if err := d.lend(); err != nil {
		return s.undefined(err)
	}
	ok, err := d.run()
	if err != nil {
		return err
	}
	return s.done(ok)
}

// undefined says of an error that nothing was defined.
func (s *Session) undefined(err error) error {
	e := s.clientError(err)
	return fail(e.Code, e.State, "%s; nothing was done on any shard", e.Message)
}

// mayRun refuses to change tables while genes are on the move. CREATE TABLE IF NOT EXISTS
// of one that is there changes nothing: applications begin with it.
func (d *definition) mayRun() error {
	if d.r.snapshot.Map.Moving().Empty() || d.ifNotExists() && d.there() {
		return nil
	}
	return moving("changing the definition of a table")
}

// moving refuses what would disturb a move.
func moving(what string) error {
	return &plan.Refusal{Code: plan.Unsupported, Message: what + " while genes are on the move: wait until locus jobs shows the move to be over"}
}

// makes tells CREATE TABLE, which can be undone.
func (d *definition) makes() bool { return d.r.facts.Statement.Features&stmt.MakesTable != 0 }

func (d *definition) ifNotExists() bool { return d.r.facts.Statement.IfNotExists != nil }

// there tells whether the table that is to be made is on every shard.
func (d *definition) there() bool {
	for _, shard := range d.r.snapshot.Catalog.Shards {
		if lines, err := d.definitionOf(d.r, shard, d.quotedName(d.r, d.r.facts.Statement.Tables[0])); err != nil || lines == nil {
			return false
		}
	}
	return true
}

// answerWait is how long a shard may take to say that it is there.
const answerWait = 10 * time.Second

// lend takes a connection to every shard and has each answer.
func (d *definition) lend() error {
	for _, shard := range d.r.snapshot.Catalog.Shards {
		l, err := d.conns.Acquire(shard, 0)
		if err == nil {
			if err = d.answers(l); err != nil {
				l.Fail(err)
			}
		}
		if err != nil {
			for _, idle := range d.shards {
				idle.Release()
			}
			return err
		}
		d.shards = append(d.shards, defined{Lease: l})
	}
	return nil
}

func (d *definition) answers(l txn.Lease) error {
	ctx, cancel := context.WithTimeout(d.interrupts.Waits(), answerWait)
	defer cancel()
	_, err := l.Conn.Own().Exec(ctx, "DO 0")
	return err
}

// run has every shard do it, and judges what has come of that.
func (d *definition) run() (wire.OK, error) {
	d.send()
	d.read()
	ok, err := d.judge()
	for _, on := range d.shards {
		if on.err != nil {
			on.Fail(on.err)
		} else {
			on.Done(on.Conn.Status())
		}
	}
	if done := d.done(); len(done) > 0 {
		d.reread(done)
		d.numberAnew()
	}
	return ok, err
}

// numberAnew looks where the shards would number on, which CREATE TABLE and ALTER TABLE may
// have said.
func (d *definition) numberAnew() {
	if d.Numbers == nil || !d.r.facts.Statement.SetsNumber {
		return
	}
	for _, name := range d.r.facts.Statement.Tables {
		t, err := d.Snapshot().Catalog.Find(d.fullName(d.r, name))
		if err != nil || t == nil || t.Kind != catalog.Sharded || t.Numbered() < 0 {
			continue
		}
		if err := d.Numbers.Again(d.interrupts.Waits(), t); err != nil {
			d.vars.Warn("the definition is made, and where the numbers of " + t.TableName.String() + " go on was not read from all shards: " + err.Error())
		}
	}
}

func (d *definition) send() {
	packet, _ := wire.AppendCommand(nil, mysql.COM_QUERY, d.text())
	for i := range d.shards {
		on := &d.shards[i]
		d.sentTo(on.Lease)
		d.tellLeft(d.r)
		on.err = on.Conn.Send(packet, left(d.r.facts))
	}
}

// text is the client's without IF NOT EXISTS: who has made the table must be known, since it
// may have to be dropped again, and a shard's note could have been switched off.
func (d *definition) text() []byte {
	text := d.r.values.Text
	if !d.ifNotExists() {
		return text
	}
	words := d.r.facts.Statement.IfNotExists
	return slices.Concat(text[:d.r.values.Offset(words.Start)], text[d.r.values.Offset(words.End):])
}

func (d *definition) read() {
	warned := false
	for i := range d.shards {
		on := &d.shards[i]
		if on.err == nil {
			on.ok, on.err = on.Conn.Outcome()
		}
		d.timing.trace.Answered(string(on.Shard), on.ok.AffectedRows, exec.CodeOf(on.err))
		if on.err == nil && on.ok.Warnings > 0 && !warned {
			warned = true
			status := on.Conn.Status()
			d.keepWarnings(on.Lease)
			on.Conn.SetStatus(status)
		}
	}
}

// done are the shards on which it was done.
func (d *definition) done() (names []string) {
	for _, on := range d.shards {
		if on.err == nil {
			names = append(names, string(on.Shard))
		}
	}
	return names
}

// judge gives the answer.
func (d *definition) judge() (total wire.OK, err error) {
	var passed []passedOver
	var failed *defined
	for i := range d.shards {
		switch on := &d.shards[i]; {
		case on.err == nil:
			total.AffectedRows = max(total.AffectedRows, on.ok.AffectedRows)
			total.Warnings = max(total.Warnings, on.ok.Warnings)
		case d.already(on.err) != nil:
			passed = append(passed, passedOver{on.Shard, d.already(on.err)})
		case failed == nil:
			failed = on
		}
	}
	done := d.done()
	switch {
	case failed != nil:
		return wire.OK{}, d.failed(done, failed.Shard, failed.err)
	case len(done) > 0:
	case d.ifNotExists():
		d.vars.Soften(passed[0].said)
		return wire.OK{Warnings: 1}, nil
	default:
		return wire.OK{}, passed[0].said
	}
	if err := d.alike(d.r, router.ShardName(done[0]), passed); err != nil {
		return wire.OK{}, d.failed(done, passed[0].shard, err)
	}
	for _, p := range passed {
		d.vars.Note(p.said.Code, "passed over shard "+string(p.shard)+": "+p.said.Message)
	}
	total.Warnings += uint16(len(passed))
	return total, nil
}

// failed says of a definition that failed on a shard what stands on the others.
func (d *definition) failed(done []string, at router.ShardName, err error) error {
	e := d.clientError(err)
	switch {
	case len(done) == 0 && txn.IsRefusal(err):
		return err
	case len(done) == 0:
		return fail(e.Code, e.State, "%s; it was done on no other shard, and whether on %s is not known: repeat the statement, which passes over the shards where it was done", e.Message, at)
	case !d.makes():
		return fail(e.Code, e.State, "on shard %s: %s; it was done on %s: mend the reason and repeat the statement, which passes over the shards where it was done", at, e.Message, strings.Join(done, ", "))
	}
	if left := d.unmake(); left != nil {
		return fail(e.Code, e.State, "on shard %s: %s; it was made on %s and could not be dropped there again (%v): drop it, or mend the reason and repeat the statement, which passes over the shards that have it", at, e.Message, strings.Join(d.done(), ", "), left)
	}
	text := "it was made on " + strings.Join(done, ", ") + " and dropped there again"
	if !txn.IsRefusal(err) {
		text += "; whether it is on " + string(at) + " is not known: repeat the statement, which passes over the shards that have it"
	}
	return fail(e.Code, e.State, "on shard %s: %s; %s", at, e.Message, text)
}

// unmake drops the table where it was made just now. It has no rows: statements on it are
// refused until all shards have it.
func (d *definition) unmake() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.ctx), undoTime)
	defer cancel()
	var left []error
	for i := range d.shards {
		on := &d.shards[i]
		if on.err != nil {
			continue
		}
		if _, err := on.Conn.Own().Exec(ctx, "DROP TABLE "+d.quotedName(d.r, d.r.facts.Statement.Tables[0])); err != nil {
			left = append(left, err)
			if !txn.IsRefusal(err) {
				on.err = err
			}
		}
	}
	return errors.Join(left...)
}

// quotedName is a table's full name in SQL.
func (s *Session) quotedName(r *request, name stmt.TableName) string {
	full := s.fullName(r, name)
	return plan.Quote(full.Schema) + "." + plan.Quote(full.Name)
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

// already tells a server's error that says that there is nothing left to do.
func (d *definition) already(err error) *mysql.MyError {
	e, ok := errors.AsType[*mysql.MyError](err)
	switch {
	case !ok:
		return nil
	case d.makes():
		if e.Code == mysql.ER_TABLE_EXISTS_ERROR {
			return e
		}
	case slices.Contains(nothingLeft, e.Code):
		return e
	}
	return nil
}

// nothingLeft are the servers' numbers for: unknown table, no such table, duplicate
// column, duplicate key, can't drop, unknown column, multiple primary key, duplicate
// foreign key, duplicate check.
var nothingLeft = []uint16{1051, 1146, 1060, 1061, 1091, 1054, 1068, 1826, 3822}
