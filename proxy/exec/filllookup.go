package exec

import (
	"fmt"
	"strconv"

	"locus/idgen/gene"
	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// fillRows is the number of rows whose entries are inserted in one transaction.
const fillRows = 500

// Filled is the progress of filling a look-up table.
type Filled struct {
	// Rows is the number of rows that were read, and Made is the number of missing entries that were inserted.
	Rows, Made int
	// Duplicates are the values of rows for which another shard's row has the entry. Only the first ones are kept. More counts the others.
	Duplicates []string
	More       int

	after *catalog.Entry
}

// mostDuplicates limits the values in Filled.Duplicates.
const mostDuplicates = 100

// FillEntries inserts the missing entries of the next rows of a shard, in a transaction of its own. It reports whether these were the last rows. A
// failure has no effect, and a repetition continues at the same row.
func (x *Execution) FillEntries(l *catalog.Lookup, shard int, f *Filled) (last bool, err error) {
	if err := x.Admit(nil, true, nil); err != nil {
		return false, err
	}
	foreign := x.Snapshot.Map.Foreign(shard)
	text, ok := plan.FillRead(l, foreign, f.after, fillRows)
	if !ok {
		return false, plan.UnownedRefusal()
	}
	next := *f
	err = x.Conns.Atomically(func() error {
		next = *f
		reading := x.part(plan.EntryWrite(stmt.Select), x.Values)
		reading.settings = backend.Default
		rows, err := reading.query([]Part{{Shard: x.Snapshot.Map.Shard(shard), Text: []byte(text)}}, txn.Writes)
		if err != nil {
			return err
		}
		entries, err := x.fillingEntries(l, rows[0].Rows)
		if err != nil {
			return err
		}
		last = len(entries) < fillRows
		next.Rows += len(entries)
		if len(entries) > 0 {
			next.after = &entries[len(entries)-1]
		}
		return reading.fill(l, entries, &next)
	})
	if err != nil {
		return false, err
	}
	*f = next
	return last, nil
}

// Restart continues with the first row of another shard.
func (f *Filled) Restart() { f.after = nil }

func (x *Execution) fillingEntries(l *catalog.Lookup, rows [][][]byte) (entries []catalog.Entry, err error) {
	key := l.Indexed.ComputableKey()
	for _, row := range rows {
		e, _, err := readEntry(l.Of(), row[0])
		if err == nil {
			e.Row, err = geneOfText(key, row[1])
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, x.hash(l.Of(), entries)
}

// fill inserts the entries that are missing, and notes those that other rows have.
func (x *Execution) fill(l *catalog.Lookup, entries []catalog.Entry, f *Filled) error {
	var missing []catalog.Entry
	for on, some := range x.byShard(entries) {
		answers, err := x.query([]Part{{Shard: on, Text: l.AppendPresent(nil, some)}}, txn.Writes)
		if err != nil {
			return err
		}
		present := map[int]gene.Gene{}
		for _, row := range answers[0].Rows {
			at, err := strconv.Atoi(string(row[1]))
			if err != nil || at >= len(some) {
				return fmt.Errorf("look-up table %s: an entry has the position %q of %d", l.Entries.TableName, row[1], len(some))
			}
			if present[at], err = geneOfEntry(l, x.Snapshot.Map, row[0]); err != nil {
				return err
			}
		}
		for i, e := range some {
			g, is := present[i]
			switch {
			case !is:
				missing = append(missing, e)
			case g == e.Row:
			case len(f.Duplicates) < mostDuplicates:
				f.Duplicates = append(f.Duplicates, e.Value.String())
			default:
				f.More++
			}
		}
	}
	f.Made += len(missing)
	return x.writeEntries([]entryChange{{lookup: l, made: missing}})
}
