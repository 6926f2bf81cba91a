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

// Defined is the outcome of a definition of tables, views or routines that are on every shard.
type Defined struct {
	OK wire.OK
	// Done are the shards that have done it, and Passed those that say that it was done there already.
	Done   []router.ShardName
	Passed []Passed
	Err    error // why it failed, as Define gives it
}

// Passed is a shard that reported that it had done the definition before.
type Passed struct {
	Shard router.ShardName
	Said  *mysql.MyError
}

// DefinitionError is the error of a definition together with the state that it left. The client reads Before, the error's text, and After.
type DefinitionError struct {
	Err           error
	Before, After string
}

func (e *DefinitionError) Error() string { return e.Before + e.Err.Error() + e.After }
func (e *DefinitionError) Unwrap() error { return e.Err }

// definition is a definition in progress. No transaction can undo it.
type definition struct {
	*Request
	shards  []defining
	lacking []Passed // shards without the database
	warned  bool     // the warnings of a shard are kept
}

// defining is a definition's outcome on one shard.
type defining struct {
	txn.Lease
	ok     wire.OK
	err    error
	locked bool // the table, on this connection
}

// Define runs a definition on all shards at once. Definitions of the same table run one after the other.
//
// No shard is sent the definition before all have answered a question. If a table or routine is made on some shards only, it is dropped
// there again. After any other failure the error says on which shards it was done, and the client may repeat the statement: a shard that
// reports that it has done it is skipped, if another shard has something to do. [Request.Ready] may refuse the definition once all shards
// have answered. Define calls tell with the outcome while it still has its turn.
func (r *Request) Define(tell func(Defined)) error {
	end, err := r.takeTurn()
	if err != nil {
		return undone(err)
	}
	defer end()
	return r.define(tell)
}

const nothingDone = "; nothing was done on any shard"

// undone returns the error of a definition of which nothing was done.
func undone(err error) *DefinitionError {
	return &DefinitionError{Err: unsent(err), After: nothingDone}
}

// unsent returns the error that ended a definition before any shard was sent it. If it is a lost connection, only what was sent ahead of
// the definition may have taken effect, so the error says that the command had none.
func unsent(err error) error {
	if lost, ok := errors.AsType[*backend.LostError](err); ok && lost.Sent {
		before := *lost
		before.Sent = false
		return &before
	}
	return err
}

// define is Define for a caller that has the turn.
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

// where returns the shards with outcomes of a kind.
func (d *definition) where(is func(error) bool) (list []*defining) {
	for i := range d.shards {
		if is(d.shards[i].err) {
			list = append(list, &d.shards[i])
		}
	}
	return list
}

func anyOutcome(error) bool { return true }

// end returns the connections.
func (d *definition) end() {
	for _, on := range d.shards {
		if on.err != nil {
			on.Fail(on.err)
		} else {
			on.Done(on.Conn.Status())
		}
	}
}

// makes reports whether it is CREATE TABLE, which can be undone.
func (r *Request) makes() bool { return r.Facts.Statement.Features&stmt.MakesTable != 0 }

// makesView reports whether it is CREATE VIEW, which may be repeated.
func (r *Request) makesView() bool {
	return r.Facts.Statement.View && r.Facts.Statement.Verb == "CREATE"
}

// makesRoutine reports whether it is a CREATE of a routine that did not exist, which can be undone.
func (r *Request) makesRoutine() bool {
	routine := r.Facts.Statement.Defined
	return routine != nil && routine.Creates && !routine.Replaces && !routine.IfNotExists
}

// MadeEverywhere reports whether every shard has the table that the statement creates.
func (r *Request) MadeEverywhere() bool {
	for _, shard := range r.Catalog.Shards {
		if lines, err := r.definitionOf(shard, r.quoted(r.Facts.Statement.Tables[0])); err != nil || lines == nil {
			return false
		}
	}
	return true
}

// answerWait is the time limit of a shard's answer to the question before a definition.
const answerWait = 10 * time.Second

// lend takes a connection to every shard, and waits until each has answered.
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

// release returns connections that were sent nothing.
func (d *definition) release() {
	for _, idle := range d.shards {
		idle.Release()
	}
}

// ask sends shards a text and reads their answers.
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

// answered records the answer of a shard.
func (d *definition) answered(on *defining) {
	d.Observer.Trace().Answered(string(on.Shard), on.ok.AffectedRows, CodeOf(on.err))
	if on.err == nil && on.ok.Warnings > 0 && !d.warned {
		d.warned = true
		status := on.Conn.Status()
		d.keepWarnings(on.Lease)
		on.Conn.SetStatus(status)
	}
}

// text returns the client's text with the additions and without IF NOT EXISTS. Each shard must report whether it created the table, which
// may have to be dropped again, and the note about that could have been switched off.
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

// done returns the shards on which it was done.
func (d *definition) done() (names []router.ShardName) {
	for _, on := range d.shards {
		if on.err == nil {
			names = append(names, on.Shard)
		}
	}
	return names
}

// judge derives the answer from the outcomes.
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

// weight orders errors by how much the client needs to know them: one with an unknown effect most, and one of a table that was locked
// least.
func weight(err error) int {
	switch {
	case isLockWait(err):
		return 0
	case txn.IsRefusal(err):
		return 1
	}
	return 2
}

// failed adds to a shard's error on which other shards the definition was done.
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

// unmake drops the table or routine where it was just made. The table has no rows: statements on it are refused until all shards have it.
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

// undoing returns the statement that drops what was made.
func (d *definition) undoing() string {
	if routine := d.Facts.Statement.Defined; routine != nil {
		return "DROP " + routine.Kind + " " + d.quoted(routine.Name)
	}
	return "DROP TABLE " + d.quoted(d.Facts.Statement.Tables[0])
}

// FullName returns the name of a table that a statement names, given the default database.
func FullName(t stmt.TableName, schema string) catalog.TableName {
	if t.Schema == "" {
		t.Schema = schema
	}
	return catalog.TableName{Schema: t.Schema, Name: t.Name}
}

// quoted returns a table's full name in SQL.
func (r *Request) quoted(t stmt.TableName) string {
	full := r.FullName(r.Work, t)
	return plan.Quote(full.Schema) + "." + plan.Quote(full.Name)
}

// already returns the error by which a server reports that there is nothing left to do, or nil.
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

// routineDone reports whether an error number means that a routine need not be made or dropped on a shard: the shard lacks the database,
// so that no statement could call the routine there, or it lacks the routine.
func (d *definition) routineDone(code uint16) bool {
	return code == mysql.ER_BAD_DB_ERROR || !d.Facts.Statement.Defined.Creates && code == mysql.ER_SP_DOES_NOT_EXIST
}

// nothingLeft are the servers' error numbers for: unknown table, no such table, duplicate column, duplicate key, can't drop, unknown
// column, multiple primary key, duplicate foreign key, duplicate check, unknown view.
var nothingLeft = []uint16{4092, 1051, 1146, 1060, 1061, 1091, 1054, 1068, 1826, 3822}
