package exec

import (
	"fmt"
	"math"
	"time"

	"locus/proxy/txn"
	"locus/proxy/wire"
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
	now := x.At
	if now.IsZero() {
		now = time.Now()
	}
	before := x.Vars.Settings
	x.Vars.Settings = x.Vars.WithTime(now) // connections carry it like any setting, until it is over
	total, err := x.change(parts)
	x.Vars.Settings = before
	if back := x.Conns.Carry(); err == nil {
		err = back
	}
	return total, err
}

func (x Several) change(parts []Part) (Totals, error) {
	sent, failure := x.sendAll(parts)
	total, warnings, err := x.outcomes(sent)
	if failure == nil {
		failure = err
	}
	total.Warnings = uint16(min(warnings, math.MaxUint16)) // as a server that has more says it
	return total, failure
}

// outcomes reads the answers to the parts, and gives the connections back once all are
// read: one may end the transaction of all. The error is the first one's. Of copies that are changed alike the first shard's
// answer counts, to which the others are held: one that is new may not have all rows yet.
func (x Several) outcomes(leases []txn.Lease) (total Totals, warnings int, failure error) {
	errs := make([]error, len(leases))
	for i, l := range leases {
		ok, err := l.Conn.Outcome()
		x.Observer.Trace().Answered(string(l.Shard), ok.AffectedRows, CodeOf(err))
		if errs[i] = err; err == nil && (i == 0 || !x.copies()) {
			total.add(ok)
			warnings += int(ok.Warnings)
			if ok.Warnings > 0 {
				x.warned(l)
			}
		} else if failure == nil {
			failure = err
		}
	}
	for i, l := range leases {
		if errs[i] != nil {
			l.Fail(errs[i])
		} else {
			l.Done(l.Conn.Status())
		}
	}
	return total, warnings, failure
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
