package exec

import (
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/gene"
	"locus/proxy/backend"
	"locus/proxy/stamp"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// An INSERT that handles duplicates, into a table with look-up indexes, runs for one row after the other. First, all rows that
// conflict with the new one are locked: rows on other shards are found by the entries, and rows on the new row's shard by all
// unique keys. Then the client's text runs, with this row alone, on the shard of the row that it changes or leaves unchanged.
// The server there thus does the same as a single server with all rows.

// errTaken means that another session has inserted the value of a row after its conflicting rows were locked.
var errTaken = errors.New("another session has inserted the same value of a unique key")

// takenTries is the number of times that a statement is run until it is as if it had lost a deadlock.
const takenTries = 5

// newRow is a row of such an INSERT.
type newRow struct {
	part    Part // for its own shard
	home    int  // the index of that shard
	number  int  // the row's position in the statement
	gene    gene.Gene
	entries []*catalog.Entry // by index; nil: the indexed column is NULL
	unknown *plan.Refusal    // why they aren't known, if the server has no error about a value, or nil
}

// conflict is a row that has the values of a new row in some unique key.
type conflict struct {
	shard   int
	by      plan.Condition
	entries []*catalog.Entry
	fields  [][]byte // they identify the row on its shard
}

// insertOneByOne runs such an INSERT in one transaction. It is run again if another session has inserted one of the values meanwhile.
func (x *Execution) insertOneByOne(p *plan.Stamped, result *stamp.Result) error {
	from := len(x.Vars.Conditions)
	for try := 1; ; try++ {
		err := x.insertTogether(p.Insert, result, func() (totals, error) {
			total, err := x.insertEach(p, result, 0)
			if err == errTaken && try == takenTries { //nolint:errorlint // it is never wrapped
				err = errOthersMatch
			}
			return total, err
		})
		if err != errTaken { //nolint:errorlint // it is never wrapped
			return err
		}
		x.Vars.Conditions = x.Vars.Conditions[:from]
	}
}

// insertEach inserts the rows within the transaction. before is the number of rows of the client's statement that precede them.
func (x *Execution) insertEach(p *plan.Stamped, result *stamp.Result, before int) (total totals, err error) {
	rows, err := x.newRows(p.Insert, result, before)
	if err != nil {
		return total, err
	}
	total.Inserted = true
	err = x.withOneTime(func() error {
		for i := range rows {
			from := len(x.Vars.Conditions)
			one, err := x.insertNew(p.Insert, &rows[i])
			if err != nil {
				return err
			}
			if before+i > 0 {
				one.Warnings -= min(one.Warnings, x.Vars.DropDeprecations(from))
			}
			total.joinInsert(one)
		}
		return nil
	})
	return total, err
}

// joinInsert adds the sums of another row of an INSERT.
func (t *totals) joinInsert(next totals) {
	t.join(next)
	if t.InsertID == 0 {
		t.InsertID = next.InsertID
	}
	t.Duplicates, t.Unaffected = t.Duplicates+next.Duplicates, t.Unaffected+next.Unaffected
	t.Inserted = t.Inserted && next.Inserted
}

func (x *Execution) newRows(in *plan.Insertion, result *stamp.Result, before int) ([]newRow, error) {
	rows := make([]newRow, len(result.Shards))
	for i, text := range result.Shards {
		part := Part{Shard: x.Snapshot.Map.Shard(text.Shard), Text: text.Text, Params: x.paramsOf(text.Params), Rows: []int{before + i + 1}}
		rows[i] = newRow{part: part, home: text.Shard, number: i, gene: result.Genes[i], entries: make([]*catalog.Entry, len(in.Indexing.Lookups))}
		for n := range in.Indexing.Lookups {
			e, has, err := in.Indexing.RowEntry(in, x.Values, i, n)
			if err == nil && has {
				e.Row = result.Genes[i]
				rows[i].entries[n], err = x.entryOf(&in.Indexing.Lookups[n], e)
			}
			if unknown, is := errors.AsType[*plan.Refusal](err); is {
				rows[i].unknown = unknown
			} else if err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// entryOf returns an entry with its hash.
func (x *Execution) entryOf(l *catalog.Lookup, e catalog.Entry) (*catalog.Entry, error) {
	c := entryChange{lookup: l, made: []catalog.Entry{e}}
	err := x.prepareEntries(&c)
	return &c.made[0], err
}

// insertNew inserts a row, or handles the conflict with existing rows as the statement demands.
func (x *Execution) insertNew(in *plan.Insertion, r *newRow) (total totals, err error) {
	if r.unknown != nil {
		if total, err = x.changeOnce([]Part{r.part}); err == nil {
			err = r.unknown
		}
		return total, err
	}
	found, err := x.conflictsElsewhere(in, r)
	if err != nil {
		return total, err
	}
	d := in.Indexing.Duplicates
	mayMeetCopies := !x.Snapshot.Map.Foreign(r.home).Empty()
	known := d.NeedsRows() || len(found) > 0 || d.Effect == plan.Updates && (x.countsMatched() || mayMeetCopies)
	if known {
		if found, err = x.conflictsAtHome(in, r, found); err != nil {
			return total, err
		}
	}
	switch d.Effect {
	case plan.Replaces:
		return x.replaceRows(in, r, found)
	case plan.Updates:
		return x.insertOrUpdate(in, r, found, known)
	case plan.Skips:
	}
	return x.insertOrSkip(in, r, found)
}

// conflictsElsewhere locks the rows of other shards that have values of the new row in the indexed columns.
func (x *Execution) conflictsElsewhere(in *plan.Insertion, r *newRow) (found []conflict, err error) {
	for n, e := range r.entries {
		if e == nil {
			continue
		}
		shards, err := x.entryShards(&in.Indexing.Lookups[n], []catalog.Entry{*e})
		if err != nil {
			return nil, err
		}
		shards = slices.DeleteFunc(shards, func(shard int) bool { return shard == r.home })
		if found, err = x.lockConflicts(in.Indexing, in.Indexing.EntryCondition(n, e), shards, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// conflictsAtHome locks the rows of the new row's own shard that conflict with it by any unique key.
func (x *Execution) conflictsAtHome(in *plan.Insertion, r *newRow, found []conflict) ([]conflict, error) {
	conditions, err := x.conditionsOf(in, r)
	if err != nil {
		return nil, err
	}
	for _, c := range conditions {
		if found, err = x.lockConflicts(in.Indexing, c, []int{r.home}, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// lockConflicts locks the rows of some shards that satisfy a condition, and adds them to those that were found before.
func (x *Execution) lockConflicts(in *plan.Indexing, c plan.Condition, shards []int, found []conflict) ([]conflict, error) {
	if len(shards) == 0 {
		return found, nil
	}
	m := x.Snapshot.Map
	parts := make([]Part, len(shards))
	for i, shard := range shards {
		text, ok := in.ConflictRead(c, m.Foreign(shard))
		if !ok {
			return nil, plan.UnownedRefusal()
		}
		parts[i] = Part{Shard: m.Shard(shard), Text: text}
	}
	answers, err := x.queryOwn(parts)
	if err != nil {
		return nil, err
	}
	for i, answer := range answers {
		for _, row := range answer.Rows {
			same := func(other conflict) bool { return other.shard == shards[i] && sameFields(other.fields, row) }
			if at := slices.IndexFunc(found, same); at >= 0 {
				found[at].by.Primary = found[at].by.Primary || c.Primary
				continue
			}
			one := conflict{shard: shards[i], by: c, fields: row}
			if one.entries, err = x.entriesOf(in, row); err != nil {
				return nil, err
			}
			found = append(found, one)
		}
	}
	return found, nil
}

func sameFields(a, b [][]byte) bool {
	return slices.EqualFunc(a, b, func(a, b []byte) bool { return (a == nil) == (b == nil) && string(a) == string(b) })
}

// queryOwn sends locking reads of the proxy's own within the transaction.
func (x *Execution) queryOwn(parts []Part) ([]*backend.Rows, error) {
	reading := x.part(plan.EntryWrite(stmt.Select), x.Values)
	reading.settings = withoutLimit(x.under())
	return reading.query(parts, x.purpose()|txn.Writes)
}

// entriesOf returns the entries of an existing row.
func (x *Execution) entriesOf(in *plan.Indexing, row [][]byte) ([]*catalog.Entry, error) {
	g, err := geneOfText(in.GeneKey(), row[len(in.Lookups)])
	if err != nil {
		return nil, err
	}
	entries := make([]*catalog.Entry, len(in.Lookups))
	for n := range in.Lookups {
		e, has, err := readEntry(in.Lookups[n].Of(), row[n])
		if err != nil {
			return nil, err
		}
		if e.Row = g; has {
			list := []catalog.Entry{e}
			if err := x.hash(in.Lookups[n].Of(), list); err != nil {
				return nil, err
			}
			entries[n] = &list[0]
		}
	}
	return entries, nil
}

// firstConflict returns the row that conflicts by the first key of those that a server checks. known is false if that depends on the order of
// the table's keys.
func firstConflict(found []conflict) (first *conflict, known bool) {
	for i := range found {
		if found[i].by.Primary {
			return &found[i], true
		}
	}
	if len(found) == 0 {
		return nil, true
	}
	return &found[0], len(found) == 1
}

// insertOrSkip runs an INSERT IGNORE of one row.
func (x *Execution) insertOrSkip(in *plan.Insertion, r *newRow, found []conflict) (totals, error) {
	part := r.part
	first, _ := firstConflict(found)
	if first != nil { // the server of the conflicting row skips the new row, and warns of the duplicate key
		part.Shard = x.Snapshot.Map.Shard(first.shard)
	}
	total, err := x.changeOnce([]Part{part})
	switch {
	case err != nil || total.Affected == 0 && first != nil:
		return total, err
	case total.Affected == 0: // because of a row of its own shard, or of a copy
		return total, x.refuseCopies(in, r, r.home)
	case first != nil:
		return total, errOthersMatch
	}
	return total, x.writeNew(in, nil, r)
}

// replaceRows runs a REPLACE of one row. Rows of other shards are deleted first.
func (x *Execution) replaceRows(in *plan.Insertion, r *newRow, found []conflict) (totals, error) {
	if err := x.refuseReplacing(in, r, found); err != nil {
		return totals{}, err
	}
	m := x.Snapshot.Map
	deleted := uint64(0)
	for i := range found {
		c := &found[i]
		if c.shard == r.home {
			continue
		}
		text, ok := in.Indexing.ConflictDelete(c.by, m.Foreign(c.shard))
		if !ok {
			return totals{}, plan.UnownedRefusal()
		}
		writing := x.part(plan.EntryWrite(stmt.Delete), x.Values)
		writing.silent = true
		one, err := writing.changeOnce([]Part{{Shard: m.Shard(c.shard), Text: text}})
		switch {
		case err != nil:
			return totals{}, err
		case one.Affected != 1:
			return totals{}, errOthersMatch
		}
		deleted++
	}
	total, err := x.changeOnce([]Part{r.part})
	if err != nil {
		return total, err
	}
	here := uint64(len(found)) - deleted
	if equal := here == 1 && total.Affected == 1; total.Affected != here+1 && !equal {
		return total, errTaken
	}
	total.Affected, total.Duplicates, total.Inserted = total.Affected+deleted, total.Duplicates+deleted, total.Inserted && deleted == 0
	return total, x.writeNew(in, found, r)
}

// insertOrUpdate runs an INSERT … ON DUPLICATE KEY UPDATE of one row. known means that the conflicting rows on its own shard are among those
// that were found.
func (x *Execution) insertOrUpdate(in *plan.Insertion, r *newRow, found []conflict, known bool) (totals, error) {
	first, one := firstConflict(found)
	if !one {
		return totals{}, in.Indexing.TwoConflicts(r.number)
	}
	part, shard := r.part, r.home
	if first != nil {
		shard = first.shard
		part.Shard = x.Snapshot.Map.Shard(shard)
	}
	if first == nil || !first.by.Primary { // otherwise the server updates this row, whatever copies it has
		if err := x.refuseCopies(in, r, shard); err != nil {
			return totals{}, err
		}
	}
	total, err := x.changeOnce([]Part{part})
	if part.Shard != r.part.Shard && backend.LacksParent(err) {
		return total, in.Indexing.UncheckedParent(r.number)
	}
	switch {
	case err != nil:
		return total, x.duplicateUpdated(err, in, r, shard)
	case first != nil:
		return total, x.writeUpdated(in, r, first)
	case total.Affected == 1:
		return total, x.writeNew(in, nil, r)
	case known:
		return total, errTaken
	}
	return total, nil
}

// duplicateUpdated is duplicateOf for an update of ON DUPLICATE KEY UPDATE that failed.
func (x *Execution) duplicateUpdated(err error, in *plan.Insertion, r *newRow, shard int) error {
	next := make([][]catalog.Entry, len(in.Indexing.Lookups))
	for n := range next {
		e, set, has, unknown := in.Indexing.SetEntry(in, x.Values, r.number, n)
		if unknown != nil {
			return err
		}
		if set && has {
			next[n] = []catalog.Entry{e}
		}
	}
	return x.duplicateOf(err, in.Indexing, []int{shard}, next)
}

// rowCopy is a copy of a row of another shard. A shard has copies while genes are moved. Its server would skip, update or delete a copy in place of
// inserting the new row.
type rowCopy struct {
	by     plan.Condition // it satisfies this
	fields [][]byte
}

// copiesOf returns the copies on a shard that conflict with a new row. It locks them.
func (x *Execution) copiesOf(in *plan.Insertion, r *newRow, shard int) (copies []rowCopy, err error) {
	if x.Snapshot.Map.Foreign(shard).Empty() {
		return nil, nil
	}
	conditions, err := x.conditionsOf(in, r)
	if err != nil {
		return nil, err
	}
	for _, c := range conditions {
		some, err := x.copiesFor(in.Indexing, c, shard)
		if err != nil {
			return nil, err
		}
		copies = append(copies, some...)
	}
	return copies, nil
}

// lostCopy returns the error of a statement that conflicts with a copy of a row that no longer has the copy's value. If another transaction has
// changed or deleted that row, the copy follows soon, and the error is errOthersMatch: the transaction may be repeated. If this transaction has
// done so, the copy can't follow before it ends, so repeating it is of no use.
func (x *Execution) lostCopy(in *plan.Indexing, c rowCopy) error {
	g, err := geneOfText(in.GeneKey(), c.fields[len(in.Lookups)])
	if err != nil {
		return err
	}
	m := x.Snapshot.Map
	for _, shard := range m.ShardsOf(g, g, nil) {
		if !slices.Contains(x.Conns.Joined(), m.Shard(shard)) {
			continue
		}
		foreign := m.Foreign(shard)
		owned, err := x.conflictRows(in, c.by, shard, foreign)
		if err != nil {
			return err
		}
		if len(owned) > 0 {
			continue
		}
		if x.Conns.Reserved(txn.LockedTables) { // no other session changes rows
			return plan.FreedWhileMoving()
		}
		text, ok := in.CommittedRead(c.by, foreign)
		if !ok {
			return plan.UnownedRefusal()
		}
		committed, err := x.ask(m.Shard(shard), 0, backend.Default, string(text))
		if err != nil {
			return err
		}
		if len(committed.Rows) > 0 {
			return plan.FreedWhileMoving()
		}
	}
	return errOthersMatch
}

// refuseCopies returns an error if a shard has copies that conflict with a new row: errTaken if the statement may be repeated.
func (x *Execution) refuseCopies(in *plan.Insertion, r *newRow, shard int) error {
	copies, err := x.copiesOf(in, r, shard)
	if err != nil {
		return err
	}
	return x.takenByCopies(in, copies)
}

func (x *Execution) takenByCopies(in *plan.Insertion, copies []rowCopy) error {
	for _, c := range copies {
		if err := x.lostCopy(in.Indexing, c); err != errOthersMatch { //nolint:errorlint // it is never wrapped
			return err
		}
	}
	if len(copies) > 0 {
		return errTaken
	}
	return nil
}

// refuseReplacing is refuseCopies for a REPLACE. A copy of a row that the statement would delete at its owner follows only after the statement, so
// that the REPLACE is refused.
func (x *Execution) refuseReplacing(in *plan.Insertion, r *newRow, found []conflict) error {
	copies, err := x.copiesOf(in, r, r.home)
	if err != nil || len(copies) == 0 {
		return err
	}
	for _, c := range copies {
		if slices.ContainsFunc(found, func(f conflict) bool { return f.shard != r.home && sameFields(f.fields, c.fields) }) {
			return plan.DisturbsMove("REPLACE of a row that another shard has")
		}
	}
	return x.takenByCopies(in, copies)
}

// copiesFor returns the copies on a shard that satisfy a condition. It locks the rows that do.
func (x *Execution) copiesFor(in *plan.Indexing, c plan.Condition, shard int) (copies []rowCopy, err error) {
	all, err := x.conflictRows(in, c, shard, router.Foreign{})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	owned, err := x.conflictRows(in, c, shard, x.Snapshot.Map.Foreign(shard))
	for _, row := range all {
		if !slices.ContainsFunc(owned, func(other [][]byte) bool { return sameFields(row, other) }) {
			copies = append(copies, rowCopy{c, row})
		}
	}
	return copies, err
}

// conflictRows locks the rows of a shard that satisfy a condition, without the foreign ones.
func (x *Execution) conflictRows(in *plan.Indexing, c plan.Condition, shard int, foreign router.Foreign) ([][][]byte, error) {
	text, ok := in.ConflictRead(c, foreign)
	if !ok {
		return nil, plan.UnownedRefusal()
	}
	answers, err := x.queryOwn([]Part{{Shard: x.Snapshot.Map.Shard(shard), Text: text}})
	if err != nil {
		return nil, err
	}
	return answers[0].Rows, nil
}

// conditionsOf returns the conditions for the rows that conflict with a new one by any unique key.
func (x *Execution) conditionsOf(in *plan.Insertion, r *newRow) ([]plan.Condition, error) {
	conditions, err := in.Indexing.OtherConditions(in, x.Values, r.number)
	if err != nil {
		return nil, err
	}
	for n, e := range r.entries {
		if e != nil {
			conditions = append(conditions, in.Indexing.EntryCondition(n, e))
		}
	}
	return conditions, nil
}

// writeNew writes the entries of a new row, and deletes the entries of the rows that it has replaced.
func (x *Execution) writeNew(in *plan.Insertion, replaced []conflict, r *newRow) error {
	var changes []entryChange
	for n := range in.Indexing.Lookups {
		var c entryChange
		next := r.entries[n]
		for i := range replaced {
			old := replaced[i].entries[n]
			if old != nil && next != nil && old.Row == next.Row && old.Value.String() == next.Value.String() {
				next = nil
			} else if old != nil {
				c.deleted = append(c.deleted, *old)
			}
		}
		if next != nil {
			c.made = []catalog.Entry{*next}
		}
		c.lookup = &in.Indexing.Lookups[n]
		changes = append(changes, c)
	}
	err := x.writeEntries(changes)
	if e, is := errors.AsType[*backend.ServerError](err); is && e.Code == mysql.ER_DUP_ENTRY {
		return errTaken
	}
	return err
}

// writeUpdated writes the entries of a row after ON DUPLICATE KEY UPDATE has changed it.
func (x *Execution) writeUpdated(in *plan.Insertion, r *newRow, updated *conflict) error {
	var changes []entryChange
	for n := range in.Indexing.Lookups {
		l := &in.Indexing.Lookups[n]
		e, set, has, err := in.Indexing.SetEntry(in, x.Values, r.number, n)
		if err != nil {
			return err
		}
		old := updated.entries[n]
		if !set || old != nil && has && old.Value.String() == e.Value.String() {
			continue
		}
		c := entryChange{lookup: l}
		if old != nil {
			c.deleted, e.Row = []catalog.Entry{*old}, old.Row
		}
		if has {
			if e.Row, err = geneOfText(in.Indexing.GeneKey(), updated.fields[len(in.Indexing.Lookups)]); err != nil {
				return err
			}
			next, err := x.entryOf(l, e)
			if err != nil {
				return err
			}
			c.made = []catalog.Entry{*next}
		}
		changes = append(changes, c)
	}
	return x.writeEntries(changes)
}
