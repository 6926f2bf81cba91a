package exec

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"sync"
	"time"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// totals contains the sums over the parts of a statement that changes rows.
type totals struct {
	Affected uint64
	Warnings uint16
	// Matched and Changed are the counts in the answer to an UPDATE.
	Matched, Changed uint64
	// InsertID is the first one that a part has generated.
	InsertID uint64
	// Info is the text of the first answer.
	Info string
	// Duplicates is the number of rows of INSERTs that the shards report as duplicates. Unaffected is the number of parts of one
	// row, whose answers have no text, that had no effect.
	Duplicates, Unaffected uint64
	// Inserted reports that each row of an INSERT was inserted and replaced no other row, according to the answers.
	Inserted bool
}

// change runs each part on its shard. After a failure it undoes nothing: the transaction around the parts rolls the others back.
func (x *Execution) change(parts []Part) (total totals, err error) {
	if !x.Facts.Clock || len(parts) < 2 || x.Vars.SetsTime() {
		return x.changeOnce(parts)
	}
	err = x.atOneTime(func() (err error) {
		total, err = x.changeOnce(parts)
		return err
	})
	return total, err
}

// atOneTime calls run, during which the statement runs with the same time on all shards. The connections carry that time until run
// has returned.
func (x *Execution) atOneTime(run func() error) error {
	at, before := x.at, x.settings
	if x.at.IsZero() {
		x.at = time.Now()
	}
	x.settings = sysvars.WithTime(x.under(), x.at)
	err := run()
	x.at, x.settings = at, before
	if back := x.Conns.Carry(); err == nil {
		err = back
	}
	return err
}

// needsOneTime reports whether a read of several shards must have the same time on all of them.
func (x *Execution) needsOneTime() bool {
	return x.Facts.Statement.Features&stmt.ReadsClock != 0 && !x.Vars.SetsTime()
}

// changeOnce sends all parts, then reads the answers. If all shards change copies of the same rows, it sends the first shard its part
// and waits for the answer. It sends the others nothing if the first one refuses. The first shard thus decides which of two changes
// of the same rows comes first. Otherwise each change could lock a row on one shard and wait for it on another, a deadlock that no
// server can detect.
func (x *Execution) changeOnce(parts []Part) (totals, error) {
	leases, err := x.acquire(parts, x.purpose()|txn.Writes)
	if err != nil {
		return totals{}, err
	}
	return x.changeWith(leases, parts)
}

// changeWith is changeOnce with connections that were acquired for the parts. It ends their leases.
func (x *Execution) changeWith(leases []txn.Lease, parts []Part) (totals, error) {
	o := outcomes{x: x, from: len(x.Vars.Conditions)}
	o.total.Inserted = true
	first := len(parts)
	if x.copies() {
		first = min(1, first)
	}
	sent, failure := x.sendTo(leases, parts[:first])
	o.read(sent, parts)
	if rest := leases[first:]; len(rest) > 0 && failure == nil {
		if o.failure != nil {
			release(rest)
		} else {
			sent, failure = x.sendTo(rest, parts[first:])
			o.read(sent, parts[first:])
		}
	}
	o.end()
	if len(parts) > 1 && parts[0].Rows != nil {
		x.Vars.SortByRow(o.from)
	}
	if failure == nil {
		failure = o.failure
	}
	o.total.Warnings = uint16(min(o.warnings, math.MaxUint16)) // a server with more warnings reports the same
	return o.total, failure
}

// outcomes collects the answers to the parts of a change. If shards change copies, the first shard's answer counts for all, because
// a new shard may not have all rows yet.
type outcomes struct {
	x        *Execution
	leases   []txn.Lease
	errs     []error // one for each lease
	total    totals
	warnings int
	failure  error // the first error, or the one about the first row
	row      int   // the row of the statement that failure is about, or 0
	from     int   // index of the first warning
}

func (o *outcomes) read(leases []txn.Lease, parts []Part) {
	for i, l := range leases {
		ok, err := l.Conn.Outcome()
		o.x.Observer.Trace().Answered(string(l.Shard), ok.AffectedRows, txn.CodeOf(err))
		if err != nil {
			o.noteFailure(err, parts[i].Rows)
		}
		if err == nil && (len(o.errs) == 0 || !o.x.copies()) {
			o.total.add(ok, o.x.Facts.Statement.Kind, len(parts[i].Rows))
			o.warnings += int(ok.Warnings)
			if ok.Warnings > 0 {
				o.x.takeRowWarnings(l, parts[i].Rows)
			}
		}
		o.leases, o.errs = append(o.leases, l), append(o.errs, err)
	}
}

// noteFailure records a shard's error. A server ends an INSERT at the first row that it can't insert, so the error about the first
// row counts.
func (o *outcomes) noteFailure(err error, rows []int) {
	row := 0
	if e, ok := errors.AsType[*backend.ServerError](err); ok && rows != nil {
		e.Message, row = sysvars.RenumberMessage(e.Message, rows)
	}
	if o.failure == nil || row > 0 && row < o.row {
		o.failure, o.row = err, row
	}
}

// end ends the leases, once all answers are read, because ending one may end the transaction of all.
func (o *outcomes) end() {
	for i, l := range o.leases {
		if err := o.errs[i]; err != nil {
			l.Fail(err)
		} else {
			l.Done(l.Conn.Status())
		}
	}
}

func (t *totals) add(ok wire.OK, kind stmt.Kind, rows int) {
	if t.Info == "" {
		t.Info = string(ok.Info)
	}
	t.Affected += ok.AffectedRows
	if t.InsertID == 0 {
		t.InsertID = ok.LastInsertID
	}
	if kind != stmt.Update {
		t.countRows(ok, rows)
		return
	}
	t.Inserted = false
	if matched, changed, found := countsIn(ok.Info); found {
		t.Matched, t.Changed = t.Matched+matched, t.Changed+changed
	}
}

// countsIn returns the first two numbers of the text in an OK: the matched and changed rows of an UPDATE, or the records and
// duplicates of an INSERT. The words between them are in the language of lc_messages.
func countsIn(info []byte) (first, second uint64, found bool) {
	numbers := bytes.FieldsFunc(info, func(r rune) bool { return r < '0' || r > '9' })
	if len(numbers) < 2 {
		return 0, 0, false
	}
	first, err := strconv.ParseUint(string(numbers[0]), 10, 64)
	if err != nil {
		return 0, 0, false
	}
	second, err = strconv.ParseUint(string(numbers[1]), 10, 64)
	return first, second, err == nil
}

// join adds the sums of a part that ran after the others.
func (t *totals) join(next totals) {
	t.Affected += next.Affected
	t.Matched, t.Changed = t.Matched+next.Matched, t.Changed+next.Changed
	t.Warnings = uint16(min(int(t.Warnings)+int(next.Warnings), math.MaxUint16))
}

// used returns how many rows of a LIMIT a part has used up. An UPDATE uses the rows that it finds, whether or not it changes them.
func (t *totals) used() uint64 { return max(t.Matched, t.Affected) }

// countRows adds the counts in the answer to an INSERT of so many rows. The answer to an INSERT of one row has no text, so they are
// derived from the number of affected rows.
func (t *totals) countRows(ok wire.OK, rows int) {
	if records, duplicates, found := countsIn(ok.Info); found {
		t.Duplicates += duplicates
		t.Inserted = t.Inserted && duplicates == 0 && ok.AffectedRows == records
		return
	}
	if rows != 1 {
		t.Inserted = t.Inserted && rows > 1
		return
	}
	t.Inserted = t.Inserted && ok.AffectedRows == 1
	if ok.AffectedRows == 0 {
		t.Unaffected++
	} else {
		t.Duplicates += ok.AffectedRows - 1
	}
}

// lookup is a query to one shard.
type lookup struct {
	Shard router.ShardName
	Text  string
}

// lookupResult describes the rows that a lookup has found on a shard.
type lookupResult uint8

const (
	foundNone    lookupResult = iota
	foundStaying              // some, and the statement changes the gene of none
	foundMoved                // some, and the statement changes the gene of at least one
)

// find sends the queries to their shards within the transaction, all at once, and returns each shard's rows. The error is the
// error of the first shard that fails.
func (x *Execution) find(looks []lookup) (found []lookupResult, failure error) {
	parts := make([]Part, len(looks))
	for i, look := range looks {
		parts[i] = Part{Shard: look.Shard, Text: []byte(look.Text)}
	}
	answers, err := x.query(parts, 0)
	if err != nil {
		return nil, err
	}
	for _, answer := range answers {
		found = append(found, readFound(answer))
	}
	return found, nil
}

// query sends queries of the proxy's own to their shards within the transaction, all at once, and returns the answers. The error is the first
// shard's that fails.
func (x *Execution) query(parts []Part, mode txn.Mode) (answers []*backend.Rows, failure error) {
	leases, err := x.acquire(parts, mode)
	if err != nil {
		return nil, err
	}
	errs, opened := make([]error, len(leases)), make([]bool, len(leases))
	answers = make([]*backend.Rows, len(leases))
	var querying sync.WaitGroup
	for i, l := range leases {
		x.Observer.Sent(l)
		opening := l.Opening()
		querying.Go(func() {
			for _, text := range opening {
				if _, errs[i] = l.Conn.Own().Exec(x.Context, text); errs[i] != nil {
					return
				}
				opened[i] = true
			}
			answers[i], errs[i] = l.Conn.Own().Query(x.Context, string(parts[i].Text))
		})
	}
	querying.Wait()
	for i, l := range leases {
		x.Observer.Trace().Answered(string(l.Shard), 0, txn.CodeOf(errs[i]))
		if opened[i] {
			l.Opened()
		}
		if errs[i] == nil {
			l.Done(l.Conn.Status())
			continue
		}
		if failure == nil {
			failure = errs[i]
		}
		l.Fail(errs[i])
	}
	return answers, failure
}

// readFound interprets a shard's answer to a lookup.
func readFound(answer *backend.Rows) lookupResult {
	switch {
	case len(answer.Rows) == 0:
		return foundNone
	case string(answer.Rows[0][0]) == plan.Moved:
		return foundMoved
	}
	return foundStaying
}
