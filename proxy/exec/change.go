package exec

import (
	"fmt"
	"math"
	"time"

	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// Totals are the sums over the parts of a statement that changes rows.
type Totals struct {
	Affected uint64
	Warnings uint16
	// Matched and Changed are what an UPDATE says of itself.
	Matched, Changed uint64
	// InsertID is the first that a part has generated.
	InsertID uint64
}

// Change has every shard do its part of a statement.
func (e *Environment) Change(w *Work, parts []Part) (Totals, error) {
	return e.several(w, txn.Writes).Change(parts)
}

// Change has every shard do its part. It undoes nothing: a failure leaves the other parts to the transaction around them.
func (x Several) Change(parts []Part) (Totals, error) {
	if !x.Of.Facts.Clock || len(parts) < 2 || x.Vars.SetsTime() {
		return x.change(parts)
	}
	var total Totals
	err := x.atOneTime(x.At, func() (err error) {
		total, err = x.change(parts)
		return err
	})
	return total, err
}

// atOneTime runs a statement with the same time on all shards. Connections carry the time like any setting, until the
// statement has ended. A zero time is now.
func (e *Environment) atOneTime(now time.Time, run func() error) error {
	if now.IsZero() {
		now = time.Now()
	}
	before := e.Vars.Settings
	e.Vars.Settings = e.Vars.WithTime(now)
	err := run()
	e.Vars.Settings = before
	if back := e.Conns.Carry(); err == nil {
		err = back
	}
	return err
}

// needsOneTime reports whether a read of several shards must have the same time on all of them.
func (e *Environment) needsOneTime(w *Work) bool {
	return w.Facts.Statement.Features&stmt.ReadsClock != 0 && !e.Vars.SetsTime()
}

// change sends all parts, then reads the answers. Of copies the first shard is asked before the others, and keeps them from what it
// refuses: it decides which of two changes of the same rows goes first. Each could else hold a row on one shard and wait for it on
// another, which no server can see.
func (x Several) change(parts []Part) (Totals, error) {
	leases, err := x.acquire(parts)
	if err != nil {
		return Totals{}, err
	}
	o := outcomes{Several: x}
	first := len(parts)
	if x.copies() {
		first = min(1, first)
	}
	sent, failure := x.sendTo(leases, parts[:first])
	o.read(sent)
	if rest := leases[first:]; len(rest) > 0 && failure == nil {
		if o.failure != nil {
			release(rest)
		} else {
			sent, failure = x.sendTo(rest, parts[first:])
			o.read(sent)
		}
	}
	o.end()
	if failure == nil {
		failure = o.failure
	}
	o.total.Warnings = uint16(min(o.warnings, math.MaxUint16)) // as a server that has more says it
	return o.total, failure
}

// outcomes are the answers to the parts of a change. Of copies that are changed alike the first shard's answer counts, to which
// the others are held: one that is new may not have all rows yet.
type outcomes struct {
	Several
	leases   []txn.Lease
	errs     []error // of the leases
	total    Totals
	warnings int
	failure  error // the first one
}

func (o *outcomes) read(leases []txn.Lease) {
	for _, l := range leases {
		ok, err := l.Conn.Outcome()
		o.Observer.Trace().Answered(string(l.Shard), ok.AffectedRows, CodeOf(err))
		if err != nil && o.failure == nil {
			o.failure = err
		}
		if err == nil && (len(o.errs) == 0 || !o.copies()) {
			o.total.add(ok)
			o.warnings += int(ok.Warnings)
			if ok.Warnings > 0 {
				o.warned(l)
			}
		}
		o.leases, o.errs = append(o.leases, l), append(o.errs, err)
	}
}

// end gives the connections back, once all answers are read: one may end the transaction of all.
func (o *outcomes) end() {
	for i, l := range o.leases {
		if err := o.errs[i]; err != nil {
			l.Fail(err)
		} else {
			l.Done(l.Conn.Status())
		}
	}
}

func (t *Totals) add(ok wire.OK) {
	t.Affected += ok.AffectedRows
	if t.InsertID == 0 {
		t.InsertID = ok.LastInsertID
	}
	var matched, changed uint64
	if n, _ := fmt.Sscanf(string(ok.Info), "Rows matched: %d  Changed: %d", &matched, &changed); n == 2 {
		t.Matched, t.Changed = t.Matched+matched, t.Changed+changed
	}
}
