package ddl

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// definition is one definition that is made.
type definition struct {
	*Session
	Statement
	catalog *catalog.Catalog // catalog of the snapshot for which the plan was made

	// ready is called once all shards have answered, before the definition is sent to any. Its error is one before anything was done. May be
	// nil.
	ready func() error
	// may returns why no shard may be changed now, or nil. Several goroutines call it.
	may func() error
	// finish is called with the outcome before another definition of the same tables may begin.
	finish func(Outcome)
	notes  uint16 // for the client
	// unindexed are the look-up tables whose declarations the definition has changed, because they lose their entries.
	unindexed []catalog.TableName
	// withdrawn are those whose declarations were removed, each with the declaration of an empty one.
	withdrawn map[catalog.TableName]catalog.Declaration
	began     time.Time
}

// Outcome is the result of a definition on the shards.
type Outcome struct {
	OK wire.OK
	// Done are the shards that have made it, and Passed those that reported that it was made there before.
	Done   []router.ShardName
	Passed []Passed
	Err    error
}

// Passed is a shard that reported that it had made the definition before.
type Passed struct {
	Shard router.ShardName
	Said  *mysql.MyError
}

// warnPlain notes why the definition is made on all shards at once, even if other sessions use the table.
func (d *definition) warnPlain(why string) {
	d.Diagnostics.Note(mysql.ER_UNKNOWN_ERROR, why)
	d.notes++
}

// keepWarnings reads the warnings of a shard.
func (d *definition) keepWarnings(l txn.Lease) {
	if rows, err := l.Conn.Own().Query(d.Context, sysvars.AskWarnings); err == nil {
		d.Diagnostics.Keep(rows)
	}
}

// everywhere is a definition that is made on all shards at once.
type everywhere struct {
	*definition
	shards  []onShard
	lacking []Passed // shards without the database
	warned  bool     // the warnings of a shard are kept
}

// onShard is a definition's outcome on one shard.
type onShard struct {
	txn.Lease
	ok     wire.OK
	err    error
	locked bool // the table, on this connection
}

const nothingDone = "; nothing was done on any shard"

// undone returns the error of a definition that has changed nothing.
func undone(err error) *Error {
	return &Error{Err: unsent(err), After: nothingDone}
}

// unsent returns the error of a definition that was sent to no shard. If a connection was lost, only commands
// before the definition may have taken effect, so the error reports that the statement had none.
func unsent(err error) error {
	if lost, ok := errors.AsType[*backend.LostError](err); ok && lost.Sent {
		before := *lost
		before.Sent = false
		return &before
	}
	return err
}

// define makes a definition on all shards at once.
//
// It sends the definition only after all shards have answered a query. If only some shards created a table or
// routine, define drops it there again. After any other failure, the error names the shards that ran the
// definition, and the client may repeat the statement. A shard that reports that it has already run it is
// skipped, if another shard has not.
func (d *definition) define() error {
	e := &everywhere{definition: d}
	err := e.lend()
	if err == nil && d.ready != nil {
		if err = d.ready(); err != nil {
			e.release()
		}
	}
	if err != nil {
		return undone(err)
	}
	text := same(e.text())
	if e.Plan != nil && e.Plan.Dropping != nil {
		text = e.Plan.Dropping.Text
	}
	e.ask(text, e.where(anyOutcome))
	ok, passed, err := e.judge()
	e.end()
	d.finish(Outcome{ok, e.done(), passed, err})
	return err
}

// where returns the shards with outcomes of a kind.
func (e *everywhere) where(is func(error) bool) (list []*onShard) {
	for i := range e.shards {
		if is(e.shards[i].err) {
			list = append(list, &e.shards[i])
		}
	}
	return list
}

func anyOutcome(error) bool { return true }

// end returns the connections.
func (e *everywhere) end() {
	for _, on := range e.shards {
		on.End(on.err)
	}
}

// makes reports whether it is CREATE TABLE, which can be undone.
func (d *definition) makes() bool { return d.Facts.Statement.Features&stmt.MakesTable != 0 }

// makesView reports whether it is CREATE VIEW, which may be repeated.
func (d *definition) makesView() bool {
	return d.Facts.Statement.View && d.Facts.Statement.Verb == "CREATE"
}

// makesRoutine reports whether it is a CREATE of a routine that did not exist, which can be undone.
func (d *definition) makesRoutine() bool {
	routine := d.Facts.Statement.Defined
	return routine != nil && routine.Creates && !routine.Replaces && !routine.IfNotExists
}

// answerWait is the time limit of a shard's answer to the question before a definition.
const answerWait = 10 * time.Second

// lend takes a connection to every shard, and waits until each has answered.
func (e *everywhere) lend() error {
	var leases []txn.Lease
	for _, shard := range e.catalog.Shards {
		l, err := e.Conns.Acquire(shard, 0)
		if said := e.already(err); said != nil && said.Code == mysql.ER_BAD_DB_ERROR { // the session's own database
			e.lacking = append(e.lacking, Passed{shard, said})
			continue
		}
		if err != nil {
			for _, l := range leases {
				l.Release()
			}
			return err
		}
		leases = append(leases, l)
	}
	errs := txn.AtOnce(len(leases), func(i int) error { return e.Conns.Answers(leases[i], answerWait) })
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
		e.shards = append(e.shards, onShard{Lease: l})
	}
	return nil
}

// release returns connections that were sent nothing.
func (e *everywhere) release() {
	for _, idle := range e.shards {
		idle.Release()
	}
}

// same returns the same text for all shards.
func same(text []byte) func(router.ShardName) []byte {
	return func(router.ShardName) []byte { return text }
}

// ask sends each shard its text and reads the answers.
func (e *everywhere) ask(text func(router.ShardName) []byte, shards []*onShard) {
	for _, on := range shards {
		packet, _ := wire.AppendCommand(nil, mysql.COM_QUERY, text(on.Shard))
		e.Observer.Sent(on.Lease)
		on.err = on.Conn.Send(packet, txn.Effects(e.Facts))
	}
	for _, on := range shards {
		if on.err == nil {
			on.ok, on.err = on.Conn.Outcome()
		}
		e.answered(on)
	}
}

// answered records the answer of a shard.
func (e *everywhere) answered(on *onShard) {
	e.Observer.Trace().Answered(string(on.Shard), on.ok.AffectedRows, txn.CodeOf(on.err))
	if on.err == nil && on.ok.Warnings > 0 && !e.warned {
		e.warned = true
		status := on.Conn.Status()
		e.keepWarnings(on.Lease)
		on.Conn.SetStatus(status)
	}
}

// text returns the client's text with the additions and without IF NOT EXISTS. Each shard must report whether it created the table, which
// may have to be dropped again, and the note about that could have been switched off.
func (d *definition) text(edits ...stmt.Edit) []byte {
	if words := d.Facts.Statement.IfNotExists; words != nil {
		edits = append(edits, stmt.Edit{From: d.Values.Offset(words.Start), To: d.Values.Offset(words.End)})
	}
	for _, add := range d.Plan.Added {
		at := d.Values.Offset(add.At)
		edits = append(edits, stmt.Edit{From: at, To: at, Text: add.Text})
	}
	if edits == nil {
		return d.Values.Text
	}
	return stmt.AppendEdited(nil, d.Values.Text, stmt.SortEdits(edits))
}

// done returns the shards on which it was done.
func (e *everywhere) done() (names []router.ShardName) {
	for _, on := range e.shards {
		if on.err == nil {
			names = append(names, on.Shard)
		}
	}
	return names
}

// judge derives the answer from the outcomes.
func (e *everywhere) judge() (total wire.OK, passed []Passed, err error) {
	var failed *onShard
	sharded := e.onSharded()
	passed = e.lacking
	for i := range e.shards {
		on := &e.shards[i]
		said := e.already(on.err)
		switch {
		case on.err == nil:
			if sharded {
				total.AffectedRows += on.ok.AffectedRows
			} else { // the copies have the same rows
				total.AffectedRows = max(total.AffectedRows, on.ok.AffectedRows)
			}
			total.Warnings = max(total.Warnings, on.ok.Warnings)
		case said != nil:
			passed = append(passed, Passed{on.Shard, said})
		case failed == nil || weight(on.err) > weight(failed.err):
			failed = on
		}
	}
	done := e.done()
	switch {
	case failed != nil:
		return wire.OK{}, nil, e.failed(done, failed.Shard, failed.err)
	case len(done) > 0:
		if err := e.alike(done[0], passed); err != nil {
			return wire.OK{}, nil, e.failed(done, passed[0].Shard, err)
		}
	case e.Facts.Statement.IfNotExists == nil:
		return wire.OK{}, nil, passed[0].Said
	}
	return total, passed, nil
}

// onSharded reports whether the rows of the first table are distributed over the shards.
func (e *everywhere) onSharded() bool {
	if len(e.Facts.Statement.Tables) == 0 {
		return false
	}
	t, err := e.catalog.Find(e.FullName(e.Facts.Statement.Tables[0]))
	return err == nil && t != nil && t.Kind == catalog.Sharded
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
func (e *everywhere) failed(done []router.ShardName, at router.ShardName, err error) error {
	before, on := "on shard "+string(at)+": ", names(done)
	switch {
	case isLockWait(err) && len(done) == 0:
		return &Error{err, before, held + nothingDone}
	case isLockWait(err):
		return &Error{err, before, held + "; it was done on " + on + ": repeat the statement, which skips the shards where it was done"}
	case len(done) == 0 && txn.IsRefusal(err):
		return err
	case len(done) == 0:
		return &Error{err, "", "; it was done on no other shard, and whether on " + string(at) + " is not known: repeat the statement, which skips the shards where it was done"}
	case !e.makes() && !e.makesRoutine():
		return &Error{err, before, "; it was done on " + on + ": fix the cause and repeat the statement, which skips the shards where it was done"}
	}
	if left := e.unmake(); left != nil {
		return &Error{err, before, "; it was made on " + names(e.done()) + " and could not be dropped there again (" + left.Error() + "): drop it, or fix the cause and repeat the statement, which skips the shards that have it"}
	}
	after := "; it was made on " + on + " and dropped there again"
	switch {
	case txn.IsRefusal(err):
	case e.makesRoutine():
		after += "; whether it is on " + string(at) + " is not known: DROP it IF EXISTS, and repeat the statement"
	default:
		after += "; whether it is on " + string(at) + " is not known: repeat the statement, which skips the shards that have it"
	}
	return &Error{err, before, after}
}

func names(shards []router.ShardName) string {
	var list []string
	for _, shard := range shards {
		list = append(list, string(shard))
	}
	return strings.Join(list, ", ")
}

// unmake drops the table or routine on the shards that have just created it. The table has no rows, because
// statements on it are refused until all shards have it.
func (e *everywhere) unmake() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.Context), txn.UndoTime)
	defer cancel()
	var left []error
	for i := range e.shards {
		on := &e.shards[i]
		if on.err != nil {
			continue
		}
		if _, err := on.Conn.Own().Exec(ctx, e.undoing()); err != nil {
			left = append(left, err)
			if !txn.IsRefusal(err) {
				on.err = err
			}
		}
	}
	return errors.Join(left...)
}

// undoing returns the statement that drops the created object.
func (d *definition) undoing() string {
	if routine := d.Facts.Statement.Defined; routine != nil {
		return "DROP " + routine.Kind + " " + d.quoted(routine.Name)
	}
	return "DROP TABLE " + d.quoted(d.Facts.Statement.Tables[0])
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
