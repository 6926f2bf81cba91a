package exec

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Defined is what has become of one of CREATE TABLE, ALTER TABLE and their kin, of tables that are on every shard.
type Defined struct {
	OK wire.OK
	// Done are the shards that have done it, and Passed those that say that it was done there already.
	Done   []router.ShardName
	Passed []Passed
	Err    error // why it failed, as Define gives it
}

// Passed is a shard that says of a definition that it was done there before.
type Passed struct {
	Shard router.ShardName
	Said  *mysql.MyError
}

// DefinitionError is an error of a definition, and what it leaves: the client reads what stands around the error's own text.
type DefinitionError struct {
	Err           error
	Before, After string
}

func (e *DefinitionError) Error() string { return e.Before + e.Err.Error() + e.After }
func (e *DefinitionError) Unwrap() error { return e.Err }

// definition is one under way. No transaction can undo it.
type definition struct {
	*Request
	shards  []defining
	lacking []Passed // shards without the database
	warned  bool     // the warnings of a shard are kept
}

// defining is what becomes of it on one shard.
type defining struct {
	txn.Lease
	ok     wire.OK
	err    error
	locked bool // the table, on this connection
}

// Define runs a definition on every shard at once, one of a table after the other.
// It begins on none before all have answered that they are there. A table that is made on
// some shards alone is dropped there again. Of everything else the error says what stands
// where, and the statement may be repeated: a shard that says it has been done there already
// is passed over, if another one has something to do. [Request.Ready] may still refuse it once all have answered. What has become of it is told while its turn lasts.
func (r *Request) Define(tell func(Defined)) error {
	end, err := r.takeTurn()
	if err != nil {
		return undone(err)
	}
	defer end()
	return r.define(tell)
}

const nothingDone = "; nothing was done on any shard"

// undone is the error of a definition of which nothing was done.
func undone(err error) *DefinitionError {
	return &DefinitionError{Err: unsent(err), After: nothingDone}
}

// unsent is what ended a definition before a shard was sent it: of a connection that was lost it is known that the command had no effect, though
// what was asked ahead of it was sent.
func unsent(err error) error {
	if lost, ok := errors.AsType[*backend.LostError](err); ok && lost.Sent {
		before := *lost
		before.Sent = false
		return &before
	}
	return err
}

// define is Define of who has the turn.
func (r *Request) define(tell func(Defined)) error {
	d := &definition{Request: r}
	err := d.lend()
	if err == nil && r.Ready != nil {
		if err = r.Ready(); err != nil {
			d.release()
		}
	}
	if err != nil {
		return undone(err)
	}
	d.ask(d.text(), d.where(anyOutcome))
	ok, passed, err := d.judge()
	d.end()
	tell(Defined{ok, d.done(), passed, err})
	return err
}

// where are the shards whose outcome is of a kind.
func (d *definition) where(is func(error) bool) (list []*defining) {
	for i := range d.shards {
		if is(d.shards[i].err) {
			list = append(list, &d.shards[i])
		}
	}
	return list
}

func anyOutcome(error) bool { return true }

// end gives the connections back.
func (d *definition) end() {
	for _, on := range d.shards {
		if on.err != nil {
			on.Fail(on.err)
		} else {
			on.Done(on.Conn.Status())
		}
	}
}

// makes tells CREATE TABLE, which can be undone.
func (r *Request) makes() bool { return r.Facts.Statement.Features&stmt.MakesTable != 0 }

// makesView tells CREATE VIEW, which may be repeated.
func (r *Request) makesView() bool {
	return r.Facts.Statement.View && r.Facts.Statement.Verb == "CREATE"
}

// makesRoutine tells CREATE FUNCTION or PROCEDURE of one that was not there, which can be undone.
func (r *Request) makesRoutine() bool {
	routine := r.Facts.Statement.Defined
	return routine != nil && routine.Creates && !routine.Replaces && !routine.IfNotExists
}

// MadeEverywhere tells whether the table that is to be made is on every shard.
func (r *Request) MadeEverywhere() bool {
	for _, shard := range r.Catalog.Shards {
		if lines, err := r.definitionOf(shard, r.quoted(r.Facts.Statement.Tables[0])); err != nil || lines == nil {
			return false
		}
	}
	return true
}

// answerWait is how long a shard may take to say that it is there.
const answerWait = 10 * time.Second

// lend takes a connection to every shard and has each answer.
func (d *definition) lend() error {
	var leases []txn.Lease
	for _, shard := range d.Catalog.Shards {
		l, err := d.Conns.Acquire(shard, 0)
		if said := d.already(err); said != nil && said.Code == mysql.ER_BAD_DB_ERROR { // the session's own database
			d.lacking = append(d.lacking, Passed{shard, said})
			continue
		}
		if err != nil {
			release(leases)
			return err
		}
		leases = append(leases, l)
	}
	errs := d.answerEach(leases, answerWait)
	if err := cmp.Or(errs...); err != nil {
		for i, l := range leases {
			if errs[i] != nil {
				l.Fail(errs[i])
			} else {
				l.Release()
			}
		}
		return err
	}
	for _, l := range leases {
		d.shards = append(d.shards, defining{Lease: l})
	}
	return nil
}

// release gives the connections back, of which nothing was asked.
func (d *definition) release() {
	for _, idle := range d.shards {
		idle.Release()
	}
}

// ask sends shards a text, and reads their answers.
func (d *definition) ask(text []byte, shards []*defining) {
	packet, _ := wire.AppendCommand(nil, mysql.COM_QUERY, text)
	for _, on := range shards {
		d.Observer.Sent(on.Lease)
		on.err = on.Conn.Send(packet, Leaves(d.Facts))
	}
	for _, on := range shards {
		if on.err == nil {
			on.ok, on.err = on.Conn.Outcome()
		}
		d.answered(on)
	}
}

// answered notes what a shard has said.
func (d *definition) answered(on *defining) {
	d.Observer.Trace().Answered(string(on.Shard), on.ok.AffectedRows, CodeOf(on.err))
	if on.err == nil && on.ok.Warnings > 0 && !d.warned {
		d.warned = true
		status := on.Conn.Status()
		d.keepWarnings(on.Lease)
		on.Conn.SetStatus(status)
	}
}

// text is the client's text with what is added and without IF NOT EXISTS. Each shard must report whether it created the table, which may
// have to be dropped again, and its note could have been switched off.
func (d *definition) text(edits ...Edit) []byte {
	if words := d.Facts.Statement.IfNotExists; words != nil {
		edits = append(edits, Edit{d.Values.Offset(words.Start), d.Values.Offset(words.End), ""})
	}
	for _, add := range d.Added {
		at := d.Values.Offset(add.At)
		edits = append(edits, Edit{at, at, add.Text})
	}
	if edits == nil {
		return d.Values.Text
	}
	return Edited(nil, d.Values.Text, ordered(edits))
}

// done are the shards on which it was done.
func (d *definition) done() (names []router.ShardName) {
	for _, on := range d.shards {
		if on.err == nil {
			names = append(names, on.Shard)
		}
	}
	return names
}

// judge gives the answer.
func (d *definition) judge() (total wire.OK, passed []Passed, err error) {
	var failed *defining
	passed = d.lacking
	for i := range d.shards {
		on := &d.shards[i]
		said := d.already(on.err)
		switch {
		case on.err == nil:
			total.AffectedRows = max(total.AffectedRows, on.ok.AffectedRows)
			total.Warnings = max(total.Warnings, on.ok.Warnings)
		case said != nil:
			passed = append(passed, Passed{on.Shard, said})
		case failed == nil || weight(on.err) > weight(failed.err):
			failed = on
		}
	}
	done := d.done()
	switch {
	case failed != nil:
		return wire.OK{}, nil, d.failed(done, failed.Shard, failed.err)
	case len(done) > 0:
		if err := d.alike(done[0], passed); err != nil {
			return wire.OK{}, nil, d.failed(done, passed[0].Shard, err)
		}
	case d.Facts.Statement.IfNotExists == nil:
		return wire.OK{}, nil, passed[0].Said
	}
	return total, passed, nil
}

// weight is how much a shard's error says of what went wrong: one whose effect isn't known the most, and one that somebody held the
// table the least.
func weight(err error) int {
	switch {
	case isLockWait(err):
		return 0
	case txn.IsRefusal(err):
		return 1
	}
	return 2
}

// failed says of a definition that failed on a shard what stands on the others.
func (d *definition) failed(done []router.ShardName, at router.ShardName, err error) error {
	before, on := "on shard "+string(at)+": ", names(done)
	switch {
	case isLockWait(err) && len(done) == 0:
		return &DefinitionError{err, before, held + nothingDone}
	case isLockWait(err):
		return &DefinitionError{err, before, held + "; it was done on " + on + ": repeat the statement, which skips the shards where it was done"}
	case len(done) == 0 && txn.IsRefusal(err):
		return err
	case len(done) == 0:
		return &DefinitionError{err, "", "; it was done on no other shard, and whether on " + string(at) + " is not known: repeat the statement, which skips the shards where it was done"}
	case !d.makes() && !d.makesRoutine():
		return &DefinitionError{err, before, "; it was done on " + on + ": fix the cause and repeat the statement, which skips the shards where it was done"}
	}
	if left := d.unmake(); left != nil {
		return &DefinitionError{err, before, "; it was made on " + names(d.done()) + " and could not be dropped there again (" + left.Error() + "): drop it, or fix the cause and repeat the statement, which skips the shards that have it"}
	}
	after := "; it was made on " + on + " and dropped there again"
	switch {
	case txn.IsRefusal(err):
	case d.makesRoutine():
		after += "; whether it is on " + string(at) + " is not known: DROP it IF EXISTS, and repeat the statement"
	default:
		after += "; whether it is on " + string(at) + " is not known: repeat the statement, which skips the shards that have it"
	}
	return &DefinitionError{err, before, after}
}

func names(shards []router.ShardName) string {
	var list []string
	for _, shard := range shards {
		list = append(list, string(shard))
	}
	return strings.Join(list, ", ")
}

// unmake drops the table or routine where it was made just now. A table has no rows: statements on it are
// refused until all shards have it.
func (d *definition) unmake() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.Context), txn.UndoTime)
	defer cancel()
	var left []error
	for i := range d.shards {
		on := &d.shards[i]
		if on.err != nil {
			continue
		}
		if _, err := on.Conn.Own().Exec(ctx, d.undoing()); err != nil {
			left = append(left, err)
			if !txn.IsRefusal(err) {
				on.err = err
			}
		}
	}
	return errors.Join(left...)
}

// undoing is the statement that drops what was made.
func (d *definition) undoing() string {
	if routine := d.Facts.Statement.Defined; routine != nil {
		return "DROP " + routine.Kind + " " + d.quoted(routine.Name)
	}
	return "DROP TABLE " + d.quoted(d.Facts.Statement.Tables[0])
}

// FullName is a table's, as a statement names it whose default database is known.
func FullName(t stmt.TableName, schema string) catalog.TableName {
	if t.Schema == "" {
		t.Schema = schema
	}
	return catalog.TableName{Schema: t.Schema, Name: t.Name}
}

// quoted is a table's full name in SQL.
func (r *Request) quoted(t stmt.TableName) string {
	full := r.FullName(r.Work, t)
	return plan.Quote(full.Schema) + "." + plan.Quote(full.Name)
}

// already tells a server's error that says that there is nothing left to do.
func (d *definition) already(err error) *mysql.MyError {
	e, ok := errors.AsType[*mysql.MyError](err)
	if d.Facts.Statement.Defined != nil {
		if ok && d.routineDone(e.Code) {
			return e
		}
		return nil
	}
	switch {
	case ok && (d.makes() || d.makesView()) && e.Code == mysql.ER_TABLE_EXISTS_ERROR, ok && !d.makes() && slices.Contains(nothingLeft, e.Code):
		return e
	}
	return nil
}

// routineDone tells the numbers by which a server says that a routine need not be made or dropped there: it lacks the database, so that
// no statement could call it there, or the routine.
func (d *definition) routineDone(code uint16) bool {
	return code == mysql.ER_BAD_DB_ERROR || !d.Facts.Statement.Defined.Creates && code == mysql.ER_SP_DOES_NOT_EXIST
}

// nothingLeft are the servers' numbers for: unknown table, no such table, duplicate
// column, duplicate key, can't drop, unknown column, multiple primary key, duplicate
// foreign key, duplicate check, unknown view.
var nothingLeft = []uint16{4092, 1051, 1146, 1060, 1061, 1091, 1054, 1068, 1826, 3822}
