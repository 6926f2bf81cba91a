package exec

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/proxy/stamp"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// insertOne runs an INSERT whose rows are all on one shard.
func (x *Execution) insertOne(p *plan.Stamped, result *stamp.Result) error {
	only := result.Shards[0]
	var last reply.Ending
	if result.HasID {
		updates := len(x.Facts.Statement.Insert.Update) > 0
		x.insert = inserting{id: result.FirstID.Lo, countFrom: result.CountFrom, mayUpdate: updates && len(result.Genes) == 1}
		x.insert.numbered = p.Insert.Table.IDColumn < 0
		last = x.insertEnding
	}
	x.Tally.OneShard.Add(1)
	var params []wire.Param
	if x.Prepared != nil {
		x.generated = x.stampedParams(x.generated[:0], x.Params, only.Params)
		params = x.generated
	}
	shard := x.Snapshot.Map.Shard(only.Shard)
	if err := x.oneShard(Part{Shard: shard, Text: only.Text, Params: params}, last); err != nil {
		return err
	}
	if result.HasID && x.insert.mayUpdate && x.Client.Scanner.Rows() > 0 {
		x.keepReturned(p.Insert, shard)
	}
	return nil
}

// keepReturned keeps the generated ID as LAST_INSERT_ID() if a row has it. The rows of a RETURNING don't show
// which of them were updated.
func (e *Engine) keepReturned(in *plan.Insertion, shard router.ShardName) {
	if first, err := e.firstOf(in, shard, e.stamper.Generated()); err == nil && first != nil {
		e.Vars.InsertID = first.ID.Lo
	}
}

// mayLeaveOut reports whether an INSERT on one shard may insert some of the rows that have a generated ID, and leave out or
// update others. Its answer then does not show the first ID that was inserted.
func (x *Execution) mayLeaveOut(in *plan.Insertion, result *stamp.Result) bool {
	st := x.Facts.Statement
	updates := len(st.Insert.Update) > 0
	if !result.HasID || !updates && !st.Insert.Ignore || st.Features&stmt.Returning != 0 {
		return false
	}
	if x.Facts.Leaves != plan.LeavesNothing || x.Conns.ReservesAny() {
		return false // state that a statement leaves is read only after a relayed answer
	}
	return len(result.Genes) > 1 || updates && x.countsMatched() && in.Table.IDColumn >= 0
}

// countsMatched reports whether a row that an upsert leaves unchanged counts 1, like an inserted row.
func (e *Engine) countsMatched() bool { return e.Client.Capabilities&mysql.CLIENT_FOUND_ROWS != 0 }

// firstInserted returns the first row with a generated ID that was inserted, or nil. total is the sum of the answers of all
// parts. The transaction of the statement must still be open.
func (x *Execution) firstInserted(in *plan.Insertion, result *stamp.Result, total *totals) (*plan.Issued, error) {
	st := x.Facts.Statement
	all := x.stamper.Generated()
	switch {
	case len(all) == 0 || total.Affected == 0:
		return nil, nil
	case total.Inserted && !x.countsMatched(), len(st.Insert.Update) == 0 && !st.Insert.Ignore:
		return &all[0], nil
	}
	var first *plan.Issued
	asked := map[int]bool{}
	for _, text := range result.Shards {
		if asked[text.Shard] {
			continue
		}
		asked[text.Shard] = true
		var on []plan.Issued
		for _, issued := range all {
			if issued.Shard == text.Shard {
				on = append(on, issued)
			}
		}
		if len(on) == 0 {
			continue
		}
		found, err := x.firstOf(in, x.shardOf(text.Shard), on)
		if err != nil {
			return nil, err
		}
		if found != nil && (first == nil || found.Row < first.Row) {
			first = found
		}
	}
	return first, nil
}

// shardOf returns the shard of rows that were stamped. Copies are on every shard.
func (x *Execution) shardOf(shard int) router.ShardName {
	if _, copies := x.Plan.(*plan.Global); copies {
		return x.Snapshot.Catalog.Shards[0]
	}
	return x.Snapshot.Map.Shard(shard)
}

// lookedUp is the number of IDs that one query looks up. A server compares each row that it finds with all of them.
const lookedUp = 200

// firstOf returns the first of some IDs of which a shard has a row, or nil.
func (e *Engine) firstOf(in *plan.Insertion, shard router.ShardName, ids []plan.Issued) (*plan.Issued, error) {
	l, err := e.Conns.Acquire(shard, 0)
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(ids, lookedUp) {
		rows, err := l.Conn.Own().Query(e.Context, in.Find(some))
		if err != nil {
			l.Fail(err)
			return nil, err
		}
		if len(rows.Rows) != 1 || rows.Rows[0][0] == nil {
			continue
		}
		l.Done(l.Conn.Status())
		n, err := strconv.Atoi(string(rows.Rows[0][0]))
		if err != nil || n < 1 || n > len(some) {
			return nil, fmt.Errorf("the first of %d rows that were inserted: %q", len(some), rows.Rows[0][0])
		}
		return &some[n-1], nil
	}
	l.Done(l.Conn.Status())
	return nil, nil
}

// countFromOf returns the ID that the OK reports if a row is the first that was inserted.
func countFromOf(result *stamp.Result, first *plan.Issued) uint64 {
	if result.CountFrom == 0 {
		return 0
	}
	return first.ID.Lo
}

// inserting contains the parts of the current INSERT that endInsert needs.
type inserting struct {
	id        uint64 // the first generated ID
	countFrom uint64 // the ID in the OK
	mayUpdate bool   // the only row may update an existing row
	numbered  bool   // the ID is a number of an AUTO_INCREMENT column, which servers report
	inserted  bool   // a row with it was inserted
}

// endInsert implements [reply.Ending]. If a row with the first generated ID was inserted, endInsert writes that ID into the OK
// and keeps it as LAST_INSERT_ID(). An inserted row counts 1. A row that was updated instead counts 2 or 0.
func (e *Engine) endInsert(dst, packet []byte) ([]byte, error) {
	if _, failed := e.Client.Scanner.ErrCode(); !failed && e.Client.Scanner.Columns() > 0 { // RETURNING
		if e.Client.Scanner.Rows() > 0 && !e.insert.mayUpdate {
			e.Vars.InsertID = e.insert.id
		}
		return append(dst, packet...), nil
	}
	if ok, has := e.Client.Scanner.OK(); has && (ok.AffectedRows == 0 || (e.insert.mayUpdate && ok.AffectedRows != 1)) {
		return append(dst, packet...), nil
	}
	if packet[wire.HeaderSize] != mysql.OK_HEADER {
		return append(dst, packet...), nil
	}
	ok, err := wire.ParseOK(packet[wire.HeaderSize:], backend.Capabilities)
	if err != nil {
		return dst, err
	}
	if e.insert.mayUpdate && e.insert.numbered && e.countsMatched() && ok.LastInsertID != e.insert.id {
		return append(dst, packet...), nil // an unchanged row counts 1 for clients that count matched rows
	}
	e.Vars.InsertID, e.insert.inserted = e.insert.id, true
	return wire.RebuildOK(dst, packet, ok.AffectedRows, e.insert.countFrom)
}

// paramsOf returns the parameters of a stamped statement, or of a part of one.
func (x *Execution) paramsOf(list []stamp.Param) []wire.Param {
	return x.stampedParams(nil, x.Params, list)
}

// stampedParams appends the parameters of a stamped statement: the client's in their new places, with generated ones between
// them.
func (e *Engine) stampedParams(dst, params []wire.Param, list []stamp.Param) []wire.Param {
	for _, p := range list {
		if p.Bound >= 0 {
			dst = append(dst, params[p.Bound])
			continue
		}
		dst = append(dst, e.generatedParam(p.Value))
	}
	return dst
}

// generatedParam returns a generated value as a parameter. The value of an integer is in a buffer of the statement.
func (e *Engine) generatedParam(v stmt.Value) wire.Param {
	if v.Kind == stmt.Bytes || v.Kind == stmt.String {
		return wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: v.Text}
	}
	e.integers = binary.LittleEndian.AppendUint64(e.integers, v.Bits())
	p := wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: e.integers[len(e.integers)-8:]}
	if v.Kind == stmt.Uint {
		p.Flags = mysql.PARAM_UNSIGNED
	}
	return p
}

// runGlobal runs a change of global tables on every shard.
func (x *Execution) runGlobal(p *plan.Global) error {
	if err := p.Alike(x.Values); err != nil {
		return err
	}
	if p.Insert.Numbered() != nil {
		return x.insertCopies(p)
	}
	total, err := x.runParts(sameParts(x.Snapshot.Catalog.Shards, slices.Clone(x.Spliced(p.Added))))
	if err != nil {
		return err
	}
	return x.Done(wire.OK{AffectedRows: total.Affected, Warnings: total.Warnings, LastInsertID: total.InsertID, Info: []byte(total.Info)})
}

// insertCopies runs an INSERT into a global table whose rows the cluster numbers. Each row gets the same number on every shard.
func (x *Execution) insertCopies(p *plan.Global) error {
	result, err := x.stampCopies(p)
	if err != nil {
		return err
	}
	only := result.Shards[0]
	parts := sameParts(x.Snapshot.Catalog.Shards, only.Text)
	if x.Prepared != nil {
		params := x.paramsOf(only.Params) // the shards share it, and only read it
		for i := range parts {
			parts[i].Params = params
		}
	}
	return x.insertParts(p.Insert, result, parts, nil)
}

// runStamped runs an INSERT into a sharded table.
func (x *Execution) runStamped(p *plan.Stamped) error {
	result, err := x.stamp(p)
	if err != nil {
		return err
	}
	var shards []int
	if !x.Snapshot.Map.Divided().Empty() {
		for _, text := range result.Shards {
			shards = append(shards, text.Shard)
		}
	}
	if err := x.Admit(result.Genes, p.Insert.Indexing != nil, shards); err != nil { // the genes of entries are not known yet
		return err
	}
	x.Tally.Stamped.Add(uint64(result.Generated))
	if len(result.Shards) == 1 && !x.mayLeaveOut(p.Insert, result) && p.Insert.Indexing == nil {
		return x.insertOne(p, result)
	}
	if p.Insert.OneByOne() {
		return x.insertOneByOne(p, result)
	}
	parts := make([]Part, 0, len(result.Shards))
	for _, text := range result.Shards {
		parts = append(parts, Part{
			Shard: x.Snapshot.Map.Shard(text.Shard), Text: text.Text, Params: x.paramsOf(text.Params), Rows: x.rowsOf(text.Shard),
		})
	}
	if p.Insert.Indexing != nil {
		return x.insertIndexed(p, result, parts)
	}
	if x.returns() {
		return x.insertReturning(p.Insert, result, parts, nil)
	}
	return x.insertParts(p.Insert, result, parts, nil)
}

// insertParts runs the parts of an INSERT in one transaction, and then calls last in it, unless that is nil.
func (x *Execution) insertParts(in *plan.Insertion, result *stamp.Result, parts []Part, last func() error) error {
	return x.insertTogether(in, result, func() (totals, error) {
		total, err := x.change(parts)
		switch {
		case err != nil && in.Indexing != nil:
			err = x.duplicateInserted(err, in, result)
		case err == nil && last != nil:
			err = last()
		}
		return total, err
	})
}

// duplicateInserted is duplicateOf for an INSERT that failed.
func (x *Execution) duplicateInserted(err error, in *plan.Insertion, result *stamp.Result) error {
	changes, unknown := x.insertedEntries(in, x.Values, result.Genes)
	if unknown != nil {
		return err
	}
	made := make([][]catalog.Entry, len(changes))
	for n, c := range changes {
		made[n] = c.made
	}
	var shards []int
	for _, text := range result.Shards {
		shards = append(shards, text.Shard)
	}
	return x.duplicateOf(err, in.Indexing, shards, made)
}

// insertTogether calls run, which inserts the rows of an INSERT, in one transaction. It reports the first generated ID that a row has at the end.
func (x *Execution) insertTogether(in *plan.Insertion, result *stamp.Result, run func() (totals, error)) error {
	var total totals
	var first *plan.Issued
	err := x.runTogether(func() (err error) {
		if total, err = run(); err == nil {
			first, err = x.firstInserted(in, result, &total)
		}
		return err
	})
	if err != nil {
		return err
	}
	ok := wire.OK{AffectedRows: total.Affected, Warnings: total.Warnings}
	insert := x.Facts.Statement.Insert
	if rows := uint64(in.Rows(x.Values.Args)); rows > 1 {
		ok.Info = insertInfo(rows, total, insert.Ignore)
	}
	switch {
	case first != nil:
		x.Vars.InsertID, ok.LastInsertID = first.ID.Lo, countFromOf(result, first)
	case total.Affected > 0 && (total.Inserted || len(insert.Update) == 0 && !insert.Ignore):
		ok.LastInsertID = in.LastNumber(x.Values)
	default:
		ok.LastInsertID = total.InsertID
		if x.Facts.KeepsInsertID && total.InsertID != 0 {
			x.Vars.InsertID = total.InsertID
		}
	}
	return x.Done(ok)
}

// insertInfo returns the info text in the OK of an INSERT.
func insertInfo(rows uint64, total totals, ignores bool) []byte {
	duplicates := total.Duplicates
	if ignores {
		duplicates += total.Unaffected
	}
	return fmt.Appendf(nil, "Records: %d  Duplicates: %d  Warnings: %d", rows, duplicates, total.Warnings)
}

// writeInserted writes the OK of an INSERT whose rows came from a query or a file.
func (e *Engine) writeInserted(in insertedRows, info []byte) error {
	ok := wire.OK{AffectedRows: in.Affected, Warnings: in.Warnings, Info: info}
	if in.FirstID != 0 && in.Affected > 0 {
		e.Vars.InsertID = in.FirstID
	}
	if in.Affected > 0 {
		ok.LastInsertID = in.CountFrom
	}
	e.Vars.FoundRows = in.Rows
	return e.Done(ok)
}
