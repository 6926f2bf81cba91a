package exec

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stamp"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Rows that are not in an INSERT's text are inserted in batches. A batch ends when it has bulkRows rows, or when its text has
// bulkBytes bytes.
const (
	bulkRows  = 1000
	bulkBytes = 256 << 10
)

// insertion is the INSERT into which rows of a query or file are written.
type insertion struct {
	plan.Rows           // the text around the rows
	Plan      plan.Plan // plan of the INSERT of each batch
}

// insertedRows describes the inserted rows for the OK that the client gets.
type insertedRows struct {
	Rows uint64 // the number of rows that were added
	totals
	FirstID   uint64
	CountFrom uint64 // the ID in the OK packet; see stamp.Result
}

// rowAdder adds a row. row appends the text between the parentheses of VALUES to out.
type rowAdder func(row func(out []byte) ([]byte, error)) error

// batches is an insertion in progress.
type batches struct {
	x      *Execution
	as     insertion
	out    insertedRows
	text   []byte
	rows   int           // the number of rows in text
	stamps *stamp.Result // the stamps of the rows in text, or nil if they are not stamped
	// entries are the look-up indexes' entries of the rows in text.
	entries []entryChange
	// unknown is why the entries aren't known, if the servers have no error about a value, or nil.
	unknown *plan.Refusal
	at      time.Time
}

// insertRows inserts all rows that are added, or none, as INSERT … VALUES would. It runs in the client's transaction, or else in one
// of its own.
func (x *Execution) insertRows(as insertion, rows func(rowAdder) error) (insertedRows, error) {
	if x.Conns.Reserved(txn.LockedTables) {
		return insertedRows{}, &plan.Refusal{Code: plan.Unsupported, Message: "rows for several shards while this session has locked tables: end that first"}
	}
	b := &batches{x: x, as: as, at: time.Now()}
	err := x.Conns.Atomically(func() error {
		if err := rows(b.add); err != nil {
			return err
		}
		return b.flush()
	})
	if err == errTaken || err == errOthersMatch { //nolint:errorlint // they are never wrapped
		err = x.RollBackAsDeadlock("Deadlock found when trying to get lock: %v", err)
	}
	return b.out, err
}

// add implements [rowAdder]. It inserts the batch when the batch is full.
func (b *batches) add(row func([]byte) ([]byte, error)) error {
	if b.rows == 0 {
		b.text = append(append(b.text[:0], b.as.Head...), " VALUES "...)
	} else {
		b.text = append(b.text, ',')
	}
	text, err := row(append(b.text, '('))
	if err != nil {
		return err
	}
	b.text = append(text, ')')
	b.rows++
	if b.rows < bulkRows && len(b.text) < bulkBytes {
		return nil
	}
	return b.flush()
}

// flush inserts the rows in the text.
func (b *batches) flush() error {
	if b.rows == 0 {
		return nil
	}
	if !b.encodable(b.text) {
		return &plan.Refusal{Code: plan.Unsupported, Message: "rows of a query or file with characters that this session's character set does not have: use SET NAMES utf8mb4"}
	}
	before := int(b.out.Rows)
	b.out.Rows += uint64(b.rows)
	b.rows = 0
	b.text = append(b.text, b.as.Tail...)
	lexed := new(stmt.Lexed)
	lexed.Lex(b.text, b.x.Vars.Mode)
	values := &plan.Values{Args: &stmt.Args{Lexed: lexed}, InsertID: b.x.Vars.InsertID}
	total, err := b.insert(values, before)
	if err != nil {
		return err
	}
	if err := b.recordIssued(values, &total); err != nil {
		return err
	}
	if b.unknown != nil {
		return b.unknown
	}
	if err := b.x.writeEntries(b.entries); err != nil {
		return err
	}
	b.recordNumber(values, total.InsertID)
	b.out.Affected += total.Affected
	b.out.Duplicates, b.out.Unaffected = b.out.Duplicates+total.Duplicates, b.out.Unaffected+total.Unaffected
	b.out.Warn(total.Warnings)
	return nil
}

// insert inserts the rows of the batch. before is the number of the statement's rows that were inserted before.
func (b *batches) insert(v *plan.Values, before int) (total totals, err error) {
	part := b.x.part(b.as.Plan, v)
	part.at = b.at
	if p, is := b.as.Plan.(*plan.Stamped); is && p.Insert.OneByOne() {
		if b.stamps, err = b.x.stampPart(p, v); err != nil {
			return total, err
		}
		return part.insertEach(p, b.stamps, before)
	}
	parts, err := b.parts(v, before)
	if err != nil {
		return total, err
	}
	total, err = part.change(parts)
	if p, is := b.as.Plan.(*plan.Stamped); is && err != nil && p.Insert.Indexing != nil {
		err = part.duplicateInserted(err, p.Insert, b.stamps)
	}
	return total, err
}

// Warn adds to the number of warnings.
func (i *insertedRows) Warn(n uint16) {
	i.Warnings = uint16(min(int(i.Warnings)+int(n), math.MaxUint16))
}

// encodable reports whether the session's character set has all characters of a UTF-8 text.
func (b *batches) encodable(text []byte) bool {
	charset, _ := b.x.under().Names()
	most := byte(0xff)
	switch charset {
	case "ascii":
		most = 0x7f
	case "utf8", "utf8mb3":
		most = 0xef // four-byte characters begin above it
	}
	return !slices.ContainsFunc(text, func(c byte) bool { return c > most })
}

// parts splits the rows by the shards that they go to. before is the number of the statement's rows that were inserted before.
func (b *batches) parts(v *plan.Values, before int) (parts []Part, err error) {
	switch p := b.as.Plan.(type) {
	case *plan.Stamped:
		result, err := b.x.stampPart(p, v)
		if err != nil {
			return nil, err
		}
		b.stamps = result
		b.entries, err = b.x.insertedEntries(p.Insert, v, result.Genes)
		if b.unknown, _ = errors.AsType[*plan.Refusal](err); err != nil && b.unknown == nil {
			return nil, err
		}
		for _, text := range result.Shards {
			rows := b.x.stamper.RowsOf(text.Shard)
			for i := range rows {
				rows[i] += before
			}
			parts = append(parts, Part{Shard: b.x.Snapshot.Map.Shard(text.Shard), Text: text.Text, Rows: rows})
		}
		return parts, nil
	case *plan.Global:
		if err := p.Alike(v); err != nil || p.Insert.Numbered() == nil {
			return sameParts(b.x.Snapshot.Catalog.Shards, b.text), err
		}
		result, err := b.x.part(p, v).stampCopies(p)
		if err != nil {
			return nil, err
		}
		b.stamps = result
		return sameParts(b.x.Snapshot.Catalog.Shards, result.Shards[0].Text), nil
	case *plan.OneShard:
		return []Part{{Shard: p.Shard, Text: b.text}}, nil
	}
	return nil, &plan.Refusal{Code: plan.Unsupported, Message: "an INSERT of this kind with rows of a query or file"}
}

// recordIssued records the first ID that was generated for a row of the batch and that a row has, unless an earlier batch had
// one.
func (b *batches) recordIssued(v *plan.Values, total *totals) error {
	result := b.stamps
	if b.stamps = nil; result == nil || !result.HasID {
		return nil
	}
	var in *plan.Insertion
	switch p := b.as.Plan.(type) {
	case *plan.Stamped:
		in = p.Insert
	case *plan.Global:
		in = p.Insert
	}
	if b.out.FirstID != 0 {
		if in.Table.Hiding() == catalog.InPlace {
			b.out.CountFrom = 0
		}
		return nil
	}
	first, err := b.x.part(b.as.Plan, v).firstInserted(in, result, total)
	if err == nil && first != nil {
		b.out.FirstID, b.out.CountFrom = first.ID.Lo, countFromOf(result, first)
	}
	return err
}

// recordNumber records the ID for the OK, as long as no ID was recorded for a row.
func (b *batches) recordNumber(v *plan.Values, insertID uint64) {
	if b.out.FirstID != 0 {
		return
	}
	switch p := b.as.Plan.(type) {
	case *plan.Stamped:
		b.out.CountFrom = p.Insert.LastNumber(v)
	case *plan.Global:
		b.out.CountFrom = p.Insert.LastNumber(v)
	default:
		b.out.FirstID, b.out.CountFrom = insertID, insertID
	}
}

// runInsertQuery runs an INSERT whose query returns rows for other shards than the one that has them. The query is answered over
// gathered rows, as a SELECT would be. Its rows are inserted as they arrive.
func (x *Execution) runInsertQuery(q *plan.InsertQuery) error {
	if err := x.guardAll(); err != nil {
		return err
	}
	if err := x.requireUTF8(); err != nil {
		return err
	}
	if x.readsOnly() { // if the query returns no rows, no server gets an INSERT that it could refuse
		return wire.Errorf(mysql.ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, "25006", "Cannot execute statement in a READ ONLY transaction")
	}
	read := q.Lex(x.Values.Lexed)
	args := new(stmt.Args)
	args.Foreign = x.Vars.Foreign
	args.Reset(read, x.Values.Bound)
	own := *x
	own.Values = &plan.Values{Args: args, InsertID: x.Vars.InsertID, UserVariable: x.Values.UserVariable}
	var in insertedRows
	err := own.gatherFor(q.Gather, func(g *gathering) (err error) {
		text := string(x.Edited(g.x.Values.Text, g.edits()))
		as := insertion{Rows: q.Around(x.Values), Plan: q.Batch}
		in, err = g.x.insertRows(as, func(add rowAdder) error { return g.on.copyRows(text, g.params(), q.Destination, add) })
		return err
	})
	if err != nil {
		return err
	}
	return x.writeInserted(in, insertInfo(in.Rows, in.totals, x.Facts.Statement.Insert.Ignore))
}

// requireUTF8 refuses a client whose character set is not UTF-8, because values are written into the texts of INSERTs.
func (e *Engine) requireUTF8() error {
	if !e.Vars.QuotesUTF8() {
		return &plan.Refusal{Code: plan.Unsupported, Message: "rows of a query or file for several shards, for a client whose character set is not UTF-8: use SET NAMES utf8mb4"}
	}
	return nil
}
