package owned

import (
	"context"
	"sync"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/changes"
	"locus/router"
)

// Ledger decides whose a change is while steps are taken. The streams ask it, and the process that takes the
// steps updates it.
//
// The outcome of a step's commit becomes known late. Until then, the owner of the step's rows after the bounds
// is unknown, and a stream that reads such a change waits.
type Ledger struct {
	mu      sync.Mutex
	history map[string]History // by leg
	copied  bool
	open    *Open
	changed chan struct{} // closed by the next change; nil if no goroutine waits
}

// Open is a step whose outcome is unknown. After [Ledger.Settle] its methods do nothing.
type Open struct {
	ledger *Ledger
	rows   router.Part
	legs   map[string]*[2]side // guarded by the ledger's mutex
}

// side is the state of an open step for one log.
type side struct {
	closed bool // changes wait: those after the bound, or all if the bound is not set
	bound  *changes.Bound
}

// Settle replaces the whole state by a known one. No step is open any more. copied reports that the target has
// received all rows.
func (l *Ledger) Settle(history map[string]History, copied bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history, l.copied, l.open = history, copied, nil
	l.announce()
}

// Copied reports whether the target has received all rows.
func (l *Ledger) Copied() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.copied
}

// Open begins a step that may hand over some rows.
func (l *Ledger) Open(rows router.Part) *Open {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = &Open{ledger: l, rows: rows, legs: map[string]*[2]side{}}
	return l.open
}

// Close makes a side's changes of the step's rows wait until the outcome is known.
func (o *Open) Close(leg string, of Side) {
	o.set(leg, of, side{closed: true})
}

// Bound sets a side's bound. Changes before it need not wait.
func (o *Open) Bound(leg string, of Side, at changes.Bound) {
	o.set(leg, of, side{closed: true, bound: &at})
}

func (o *Open) set(leg string, of Side, s side) {
	l := o.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.legs[leg] == nil {
		o.legs[leg] = new([2]side)
	}
	o.legs[leg][of] = s
	l.announce()
}

// Bounds returns the bounds by leg. Both must be set for every leg.
func (o *Open) Bounds() map[string]Bounds {
	o.ledger.mu.Lock()
	defer o.ledger.mu.Unlock()
	all := map[string]Bounds{}
	for leg, s := range o.legs {
		all[leg] = Bounds{*s[Source].bound, *s[Target].bound}
	}
	return all
}

func (l *Ledger) announce() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Owned reports whether a side of a leg owned a row at a transaction of its log. It waits until that is known.
func (l *Ledger) Owned(ctx context.Context, leg string, by Side, at changes.Transaction, g gene.Gene, r orderid.Residue) (bool, error) {
	for {
		owned, wait := l.owned(leg, by, at, g, r)
		if wait == nil {
			return owned, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// owned returns the answer, or the channel to wait for.
func (l *Ledger) owned(leg string, by Side, at changes.Transaction, g gene.Gene, r orderid.Residue) (owned bool, wait <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open.delays(leg, by, at, g, r) {
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		return false, l.changed
	}
	return l.history[leg].Owned(by, at, g, r), nil
}

// delays reports whether the owner depends on the outcome of the open step.
func (o *Open) delays(leg string, by Side, at changes.Transaction, g gene.Gene, r orderid.Residue) bool {
	if o == nil || o.legs[leg] == nil || !o.rows.Has(g, r) {
		return false
	}
	s := o.legs[leg][by]
	return s.closed && (s.bound == nil || !at.Before(*s.bound))
}
