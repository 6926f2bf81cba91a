package exec

import (
	"errors"

	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/proxy/scatter"
	"locus/proxy/stamp"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/router/plan"
	"locus/router/stmt"
)

// mostReturned is the number of bytes of rows that a change may return from several shards. They are in memory until it has succeeded.
const mostReturned = 64 << 20

// returns reports whether the statement is a change that returns rows.
func (x *Execution) returns() bool { return x.Facts.Statement.Features&stmt.Returning != 0 }

// insertReturning runs the parts of an INSERT … RETURNING in one transaction, and then calls last in it, unless that is nil. The client gets the rows in the order of the statement.
func (x *Execution) insertReturning(in *plan.Insertion, result *stamp.Result, parts []Part, last func() error) error {
	sequence := make([]int, in.Rows(x.Values.Args))
	for i, part := range parts {
		for _, row := range part.Rows {
			sequence[row-1] = i
		}
	}
	var first *plan.Issued
	err := x.runReturning(parts, sequence, func(err error) error {
		if err != nil && in.Indexing != nil {
			return x.duplicateInserted(err, in, result)
		}
		if err != nil {
			return err
		}
		first, err = x.firstInserted(in, result, &totals{Affected: 1}) // firstInserted is called because it is not known which rows were inserted
		if err == nil && last != nil {
			err = last()
		}
		return err
	})
	if err == nil && first != nil {
		x.Vars.InsertID = first.ID.Lo
	}
	return err
}

// runReturning runs the parts of a change with RETURNING in one transaction. It then calls ended in the transaction, with the error of
// the parts, unless ended is nil. The client gets the rows once the
// change is committed, or has become a part of the client's transaction: rows of a change that fails on another shard would be wrong. A
// nil sequence means the rows of one part after those of another.
func (x *Execution) runReturning(parts []Part, sequence []int, ended func(error) error) error {
	x.Cursor = false
	var held *scatter.Held
	discard := func() {
		if held != nil {
			held.Discard()
			held = nil
		}
	}
	var outcome scatter.Outcome
	err := x.runTogether(func() error {
		discard() // of an attempt before
		return x.withOneTime(func() (err error) {
			if held, outcome, err = x.hold(parts, sequence); ended != nil {
				err = ended(err)
			}
			return err
		})
	})
	if err != nil {
		discard()
		return err
	}
	x.noteMerge(outcome, nil)
	if err := held.Send(x.Status(), 0); err != nil {
		return &reply.GoneError{Err: err}
	}
	return nil
}

// hold sends the parts, and reads their answers. It ends the leases.
func (x *Execution) hold(parts []Part, sequence []int) (*scatter.Held, scatter.Outcome, error) {
	leases, err := x.sendAll(parts, x.purpose()|txn.Writes)
	if err != nil {
		return nil, scatter.Outcome{}, err
	}
	as, from, failed := x.counting(leases), len(x.Vars.Conditions), 0
	most, _ := x.Account.GatherLimits()
	as.MostHeld = min(mostReturned, most.Bytes)
	traced := as.Ended
	as.Ended = func(i int, code uint16) {
		if code != 0 && failed == 0 {
			failed = i + 1
		}
		if traced != nil {
			traced(i, code)
		}
	}
	format := scatter.Text
	if x.Prepared != nil {
		format = scatter.Binary
	}
	held, outcome, err := scatter.Hold(connsOf(leases), sequence, format, x.Client, as)
	for i, l := range leases {
		if !outcome.Clean[i] {
			l.Lost()
			continue
		}
		if outcome.Warnings > 0 {
			x.takeRowWarnings(l, parts[i].Rows)
		}
		endAnswered(l, outcome.Status[i])
	}
	if sequence != nil {
		x.Vars.SortByRow(from)
	}
	if e, is := errors.AsType[*backend.ServerError](err); is && failed > 0 {
		e.Message, _ = sysvars.RenumberMessage(e.Message, parts[failed-1].Rows)
	}
	return held, outcome, err
}
