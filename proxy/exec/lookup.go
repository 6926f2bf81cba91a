package exec

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/gene"
	"locus/proxy/backend"
	"locus/proxy/stamp"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Statements keep a look-up index by writing its entries in the transaction of the rows. They read it outside of the transaction. An entry
// only says which shard is asked for the row: the shards of the transaction, whose rows other sessions may not see yet, are asked as well,
// and each of them checks the statement's whole condition.

// narrowed admits a statement and narrows its route, if the route has several shards. It reports whether the statement was admitted.
func (x *Execution) narrowed(k *plan.Keyed) (bool, error) {
	if len(x.route.Shards) < 2 || x.Conns.Reserved(txn.LockedTables) { // other connections can't read locked tables
		return false, nil
	}
	if err := x.admitRoute(); err != nil {
		return false, err
	}
	return true, x.narrow(k.Sought)
}

// narrow restricts a route of several shards to those that have the rows according to a look-up index, and to those of the transaction. It
// leaves the route as it is if the index can't be used for the values.
func (x *Execution) narrow(s *plan.Sought) error {
	entries, ok := s.Entries(x.Values)
	if !ok || !x.legible(entries) {
		return nil
	}
	if err := x.hash(s.Lookup.Of(), entries); err != nil {
		return err
	}
	shards, err := x.entryShards(s.Lookup, entries)
	if _, down := unreachable(err); down && x.Partial {
		return nil // the reachable shards suffice
	}
	if err == nil {
		x.route.Narrow(shards)
	}
	return err
}

// entryShards returns the shards that have the rows of some values according to a look-up index, and those of the transaction, in ascending
// order. The values have their hashes. All shards are returned if the index is not filled, and while the session has locked tables, because other
// connections can't read the entries then.
func (x *Execution) entryShards(l *catalog.Lookup, entries []catalog.Entry) (shards []int, err error) {
	m := x.Snapshot.Map
	if !l.Filled || x.Conns.Reserved(txn.LockedTables) {
		for shard := range m.Shards() {
			shards = append(shards, shard)
		}
		return shards, nil
	}
	settings := backend.Default
	if x.Vars.Results() == wire.NotWide { // genes are then ASCII, and connections that have the session's settings can be used
		settings = withoutLimit(x.under())
		if _, off := settings.Lookup("autocommit"); off { // a SERIALIZABLE read would lock the entries, and wait for this transaction
			settings = settings.Without("autocommit")
		}
	}
	for on, some := range x.byShard(entries) {
		rows, err := x.ask(on, 0, settings, string(l.AppendFind(nil, some)))
		if err != nil {
			return nil, err
		}
		for _, row := range rows.Rows {
			g, err := geneOfEntry(l, m, row[0])
			if err != nil {
				return nil, err
			}
			shards = m.ShardsOf(g, g, shards)
		}
	}
	for _, joined := range x.Conns.Joined() {
		if at := slices.Index(m.Shards(), joined); at >= 0 {
			shards = append(shards, at)
		}
	}
	slices.Sort(shards)
	return slices.Compact(shards), nil
}

// geneOfEntry returns the gene that an entry contains, as a shard has returned it.
func geneOfEntry(l *catalog.Lookup, m *router.Map, text []byte) (gene.Gene, error) {
	g, err := strconv.ParseUint(string(text), 10, 32)
	if err != nil || gene.Gene(g) > m.Width().Last() {
		return 0, fmt.Errorf("look-up table %s: the gene %q of an entry is none of %d bits", l.Entries.TableName, text, m.Width())
	}
	return gene.Gene(g), nil
}

// legible reports whether the values are read from the client's texts as UTF-8, or are ASCII.
func (x *Execution) legible(entries []catalog.Entry) bool {
	return x.Vars.QuotesUTF8() || !slices.ContainsFunc(entries, func(e catalog.Entry) bool {
		return e.Value.Kind == stmt.String && !IsASCII(string(e.Value.Text))
	})
}

// hash sets the hashes of entries. It asks a server for the weights of texts that the proxy does not know.
func (x *Execution) hash(of *catalog.Column, entries []catalog.Entry) error {
	var normal []byte
	for i := range entries {
		e := &entries[i]
		var known bool
		if normal, known = of.Normal(normal[:0], e.Value); !known {
			weights, err := x.askAny(of.WeightsQuery(e.Value.Text))
			if err != nil {
				return fmt.Errorf("the weights of a text in collation %s: %w", of.Collation, err)
			}
			if normal, err = of.NormalByWeights(normal[:0], weights[0], weights[1]); err != nil {
				return err
			}
		}
		e.SetHash(normal)
	}
	return nil
}

// askAny asks the shards one after the other until one answers with a row.
func (x *Execution) askAny(text string) (row [][]byte, err error) {
	for _, shard := range x.Snapshot.Catalog.Shards {
		var rows *backend.Rows
		if rows, err = x.ask(shard, txn.Soon, backend.Default, text); err == nil && len(rows.Rows) == 1 {
			return rows.Rows[0], nil
		}
		if txn.IsRefusal(err) {
			return nil, err
		}
	}
	return nil, cmp.Or(err, fmt.Errorf("no shard has answered"))
}

// byShard yields the entries of each shard. Shards are sorted by their names, and entries by their hashes, so that all
// sessions lock entries in the same order.
func (x *Execution) byShard(entries []catalog.Entry) func(yield func(router.ShardName, []catalog.Entry) bool) {
	m := x.Snapshot.Map
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b catalog.Entry) int { return cmp.Or(a.Shard(m)-b.Shard(m), cmp.Compare(a.Hash, b.Hash)) })
	return func(yield func(router.ShardName, []catalog.Entry) bool) {
		for len(sorted) > 0 {
			shard, n := sorted[0].Shard(m), 1
			for n < len(sorted) && sorted[n].Shard(m) == shard {
				n++
			}
			if !yield(m.Shard(shard), sorted[:n]) {
				return
			}
			sorted = sorted[n:]
		}
	}
}

// entryChange is a change of the entries of one look-up index.
type entryChange struct {
	lookup        *catalog.Lookup
	deleted, made []catalog.Entry
}

// insertedEntries returns the entries of the rows of an INSERT. genes contains the gene of each row. A *plan.Refusal is about a value that isn't
// known or can't be stored. It is returned to the client only if the rows' servers have no error of their own.
func (x *Execution) insertedEntries(in *plan.Insertion, v *plan.Values, genes []gene.Gene) (changes []entryChange, err error) {
	if in.Indexing == nil {
		return nil, nil
	}
	for n := range in.Indexing.Lookups {
		c := entryChange{lookup: &in.Indexing.Lookups[n]}
		for row, g := range genes {
			entry, has, err := in.Indexing.RowEntry(in, v, row, n)
			if err != nil {
				return nil, err
			}
			if entry.Row = g; has {
				c.made = append(c.made, entry)
			}
		}
		if err := x.prepareEntries(&c); err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// prepareEntries sets the hashes of entries that will be written.
func (x *Execution) prepareEntries(c *entryChange) error {
	if !x.legible(c.made) {
		return &plan.Refusal{Code: plan.Indexed, Message: fmt.Sprintf("a value of column %s, by which rows are looked up in %s, for a client whose character set is not UTF-8: use SET NAMES utf8mb4",
			c.lookup.Of().Name, c.lookup.Entries.TableName)}
	}
	if err := x.hash(c.lookup.Of(), c.made); err != nil {
		return err
	}
	return x.hash(c.lookup.Of(), c.deleted)
}

// entriesOfText is the number of entries that one statement writes.
const entriesOfText = 500

// writeEntries changes entries in the transaction of the statement.
func (x *Execution) writeEntries(changes []entryChange) error {
	if len(changes) > 0 && x.Conns.Spanning == txn.Multi {
		return &plan.Refusal{Code: plan.Indexed, Message: fmt.Sprintf("a row could be left without its entry in %s, since transactions: multi commits each shard by itself: set transactions: xa",
			changes[0].lookup.Entries.TableName)}
	}
	for i := range changes {
		c := &changes[i]
		deletes := func(some []catalog.Entry) []byte { return c.lookup.AppendDelete(nil, some) }
		if err := x.writeSome(c.deleted, stmt.Delete, deletes); err != nil {
			return err
		}
		inserts := func(some []catalog.Entry) []byte { return c.lookup.AppendInsert(nil, x.Snapshot.Map, some) }
		if err := x.writeSome(c.made, stmt.Insert, inserts); err != nil {
			if e, is := err.(*backend.ServerError); is && e.Code == mysql.ER_DUP_ENTRY { //nolint:errorlint // it is never wrapped
				e.Message = c.lookup.NameDuplicate(e.Message, c.made)
			}
			return err
		}
	}
	return nil
}

func (x *Execution) writeSome(entries []catalog.Entry, kind stmt.Kind, text func([]catalog.Entry) []byte) error {
	if len(entries) == 0 {
		return nil
	}
	writing := x.part(plan.EntryWrite(kind), x.Values)
	writing.silent = true
	var rounds [][]Part
	for on, all := range x.byShard(entries) {
		round := 0
		for some := range slices.Chunk(all, entriesOfText) {
			if len(rounds) == round {
				rounds = append(rounds, nil)
			}
			rounds[round] = append(rounds[round], Part{Shard: on, Text: text(some)})
			round++
		}
	}
	for _, parts := range rounds {
		if _, err := writing.changeOnce(parts); err != nil {
			return err
		}
	}
	return nil
}

// errOthersMatch means that the rows that a change has locked are not those that it has changed.
var errOthersMatch = errors.New("other rows match than when they were locked")

// duplicateOf returns the error of a change that failed. A row of the change may have a value that only a copy on its shard has, while genes are
// moved. Its owner has changed or deleted that row, and the copy soon follows. So this is no duplicate, and the error is that of
// [Execution.lostCopy]. entries are those of the rows, by index.
func (x *Execution) duplicateOf(err error, in *plan.Indexing, shards []int, entries [][]catalog.Entry) error {
	if e, is := errors.AsType[*backend.ServerError](err); !is || e.Code != mysql.ER_DUP_ENTRY {
		return err
	}
	for _, shard := range shards {
		if x.Snapshot.Map.Foreign(shard).Empty() {
			continue
		}
		for n := range entries {
			for some := range slices.Chunk(entries[n], entriesOfText) {
				copies, failed := x.copiesFor(in, in.EntriesCondition(n, some), shard)
				if failed == nil && len(copies) > 0 {
					failed = x.refuseLost(in, n, copies)
				}
				if failed != nil {
					return failed
				}
			}
		}
	}
	return err
}

// refuseLost returns the error of [Execution.lostCopy] if no row has the value of a copy in the n-th index any more. It locks the rows that do.
func (x *Execution) refuseLost(in *plan.Indexing, n int, copies []rowCopy) error {
	for _, c := range copies {
		entries, err := x.entriesOf(in, c.fields)
		if err != nil {
			return err
		}
		shards, err := x.entryShards(&in.Lookups[n], []catalog.Entry{*entries[n]})
		if err != nil {
			return err
		}
		c.by = in.EntryCondition(n, entries[n])
		having, err := x.lockConflicts(in, c.by, shards, nil)
		if err != nil {
			return err
		}
		if len(having) == 0 {
			return x.lostCopy(in, c)
		}
	}
	return nil
}

// mostIndexed limits the rows of a table with look-up indexes that one statement changes.
const mostIndexed = 50_000

// changeIndexed runs an UPDATE or DELETE that changes entries of look-up indexes, within the transaction. It locks the rows and reads their
// values, changes them, and writes the entries.
func (x *Execution) changeIndexed(p *plan.Change, shards []int) (total totals, err error) {
	err = x.withOneTime(func() error {
		next, unknown := x.nextEntries(p)
		var changes []entryChange
		var found uint64
		if unknown == nil {
			if changes, found, err = x.lockIndexed(p, shards, next); err != nil {
				return err
			}
		}
		parts, err := x.changeParts(p, shards)
		if err != nil {
			return err
		}
		if total, err = x.changeOnce(parts); err != nil {
			made := make([][]catalog.Entry, len(next))
			for n, e := range next {
				if e != nil {
					made[n] = []catalog.Entry{*e}
				}
			}
			return x.duplicateOf(err, p.Indexing, shards, made)
		}
		if unknown != nil && total.used() > 0 { // the servers have no error about the value
			return unknown
		}
		if changed := total.used(); changed != found { // rows that other sessions have inserted since
			return errOthersMatch
		}
		return x.writeEntries(changes)
	})
	return total, err
}

// nextEntries returns the entries that an UPDATE gives each row, by index, without their genes. Nil: the row has none. The error is a *plan.Refusal
// about a value that isn't known or can't be stored.
func (x *Execution) nextEntries(p *plan.Change) ([]*catalog.Entry, error) {
	in := p.Indexing
	next := make([]*catalog.Entry, len(in.Lookups))
	if in.Deletes() {
		return next, nil
	}
	for n := range in.Lookups {
		e, has, err := in.NewEntry(x.Values, n)
		if err != nil {
			return nil, err
		}
		if has {
			next[n] = &e
		}
	}
	return next, nil
}

// lockIndexed locks the rows that a change is about to change, and returns how their entries change, and the number of rows.
func (x *Execution) lockIndexed(p *plan.Change, shards []int, next []*catalog.Entry) (changes []entryChange, found uint64, err error) {
	in := p.Indexing
	for n := range in.Lookups {
		changes = append(changes, entryChange{lookup: &in.Lookups[n]})
	}
	rows, err := x.readIndexed(p, shards)
	if err != nil {
		return nil, 0, err
	}
	for _, row := range rows {
		g, err := geneOfText(in.GeneKey(), row[len(row)-1])
		if err != nil {
			return nil, 0, err
		}
		for n := range in.Lookups {
			old, had, err := readEntry(in.Lookups[n].Of(), row[n])
			if err != nil {
				return nil, 0, err
			}
			old.Row = g
			if had && next[n] != nil && old.Value.String() == next[n].Value.String() {
				continue
			}
			if had {
				changes[n].deleted = append(changes[n].deleted, old)
			}
			if next[n] != nil {
				changes[n].made = append(changes[n].made, catalog.Entry{Value: next[n].Value, Row: g})
			}
		}
	}
	for n := range changes {
		if err := x.prepareEntries(&changes[n]); err != nil {
			return nil, 0, err
		}
	}
	return changes, uint64(len(rows)), nil
}

// readIndexed sends the locking reads, and returns their rows.
func (x *Execution) readIndexed(p *plan.Change, shards []int) (all [][][]byte, err error) {
	in := p.Indexing
	var condition []byte
	if from, to, has := in.Filter(x.Values); has {
		if condition, err = x.between(from, to); err != nil {
			return nil, err
		}
	}
	parts := make([]Part, len(shards))
	for i, shard := range shards {
		foreign, err := p.Foreign(x.Snapshot.Map, &x.route, shard)
		if err != nil {
			return nil, err
		}
		parts[i] = Part{Shard: x.Snapshot.Map.Shard(shard), Text: in.LockingRead(condition, foreign, mostIndexed+1)}
	}
	reading := x.part(in.Reads(), x.Values)
	reading.settings = withoutLimit(x.under())
	answers, err := reading.query(parts, x.purpose()|txn.Writes)
	if err != nil {
		return nil, err
	}
	for _, answer := range answers {
		all = append(all, answer.Rows...)
	}
	if len(all) > mostIndexed {
		return nil, &plan.Refusal{Code: plan.Indexed, Message: fmt.Sprintf("it would change more than %d rows of a table with the look-up index %s: change them in several statements", mostIndexed, in)}
	}
	return all, nil
}

// readEntry returns the entry of a value that a shard has returned. has is false for NULL.
func readEntry(of *catalog.Column, text []byte) (e catalog.Entry, has bool, err error) {
	if text == nil {
		return e, false, nil
	}
	if of.IsInteger() {
		e.Value, err = parseInteger(text)
		return e, true, err
	}
	value := make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(value, text); err != nil {
		return e, false, fmt.Errorf("column %s: %w", of.Name, err)
	}
	e.Value = stmt.Value{Kind: stmt.String, Text: value}
	return e, true, nil
}

func parseInteger(text []byte) (stmt.Value, error) {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return stmt.IntValue(n), nil
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	return stmt.UintValue(n), err
}

// geneOfText returns the gene that the value of a key contains, as readEntry reads it.
func geneOfText(key *catalog.Key, text []byte) (gene.Gene, error) {
	e, has, err := readEntry(key.Column, text)
	if err == nil && !has {
		err = fmt.Errorf("column %s of a row is NULL", key.Column.Name)
	}
	if err != nil {
		return 0, err
	}
	if !key.Column.IsInteger() {
		e.Value.Kind = stmt.Bytes
	}
	g, err := key.Stored(e.Value)
	if err != nil {
		return 0, fmt.Errorf("column %s of a row %w", key.Column.Name, err)
	}
	return g, nil
}

// insertIndexed runs the parts of an INSERT into a table with look-up indexes, and then writes the entries.
func (x *Execution) insertIndexed(p *plan.Stamped, result *stamp.Result, parts []Part) error {
	entries, err := x.insertedEntries(p.Insert, x.Values, result.Genes)
	unknown, is := errors.AsType[*plan.Refusal](err)
	if err != nil && !is {
		return err
	}
	write := func() error {
		if unknown != nil {
			return unknown
		}
		return x.writeEntries(entries)
	}
	if x.returns() {
		return x.insertReturning(p.Insert, result, parts, write)
	}
	return x.insertParts(p.Insert, result, parts, write)
}
