package applier

import (
	"errors"
	"fmt"
	"slices"

	"locus/idgen/gene"
	"locus/migrate/changes"
	"locus/migrate/table"
)

// Opening records which keys the stream deletes between the time before a chunk is read at the source and the time when
// its rows are written.
//
// A row of the chunk is written only if
//
//  1. the source showed all changes that the stream had brought at the opening when the chunk was read,
//  2. the stream has reached the end that the source's log had after the chunk was read,
//  3. the stream deleted no row with its key since the opening, and
//  4. the target has no row with its key.
//
// Proof: Let the stream be at o at the opening, and at p when the chunk is written. The row has all changes of its key before o,
// by (1), and none after p, by (2). If the source changed the key between o and p, the stream has either written the later
// row, which (4) leaves alone, or deleted the key, which (3) detects. If not, the row is the source's row at p, and a row
// already at the target is the same, because the stream wrote it. So no deleted row comes back, and no row is replaced
// by an older one.
//
// (1) does not hold by itself. The log has a transaction before the source commits it, and a deletion between the two would be
// before o without being in the chunk.
//
// The source may change rows by foreign keys without logging that. Such rows have the gene of the row that they refer to, whose change
// is logged. So a chunk is read again if it has rows of a gene from which changes cascade to its table since the opening, unless the rows
// were locked at the source from when they were read: then no cascade has reached them.
//
// TestInterleavings runs all orders of copier, stream and writers.
type Opening struct {
	table   *table.Table
	part    int
	deleted map[string]struct{}
	tooMany bool
	// cascaded are the genes of changes from which the source may have deleted or changed rows of the table, without a word in its log.
	cascaded map[gene.Gene]struct{}
	locked   bool
	position changes.Position // position of the stream at the opening
}

// Position returns the stream's position at the opening.
func (o *Opening) Position() changes.Position { return o.position }

// mostDeleted bounds the keys that one opening remembers.
const mostDeleted = 50_000

// ErrReadAgain means that too much was deleted since the chunk was opened, or that the log is now another server's.
// Nothing was written. Open the chunk again and read it again.
var ErrReadAgain = errors.New("the chunk must be read again")

// ErrCascaded is an ErrReadAgain: rows of the chunk may have been changed by foreign keys since it was opened.
var ErrCascaded = fmt.Errorf("foreign keys may have changed rows of it: %w", ErrReadAgain)

func newOpening(l table.Lane) *Opening {
	return &Opening{table: l.Table, part: l.Part, deleted: map[string]struct{}{}}
}

// sawDelete records that the stream deletes a key.
func (o *Opening) sawDelete(t *table.Table, part int, key string) {
	if o.table != t || o.part != part || o.tooMany {
		return
	}
	o.deleted[key] = struct{}{}
	if len(o.deleted) > mostDeleted {
		o.deleted, o.tooMany = nil, true
	}
}

// sawCascade records that the stream has a change of a row of a table from which changes may cascade.
func (o *Opening) sawCascade(t *table.Table, part int, g gene.Gene) {
	if o.part != part || !t.Reaches(o.table) {
		return
	}
	if o.cascaded == nil {
		o.cascaded = map[gene.Gene]struct{}{}
	}
	o.cascaded[g] = struct{}{}
}

// cascadedOnto reports whether a cascade since the opening may have changed some of the rows.
func (o *Opening) cascadedOnto(rows []table.Row) bool {
	if o.locked || len(o.cascaded) == 0 {
		return false
	}
	return slices.ContainsFunc(rows, func(r table.Row) bool {
		g, err := o.table.GeneOf(r)
		_, is := o.cascaded[g]
		return err != nil || is
	})
}

// survives reports whether the stream has not deleted the key since the opening.
func (o *Opening) survives(key string) bool {
	_, gone := o.deleted[key]
	return !gone
}

// missing returns the rows of a chunk to write, given the keys that the target has. It keeps their order.
func missing(t *table.Table, rows []table.Row, has map[string]struct{}) []table.Row {
	var out []table.Row
	for _, r := range rows {
		if _, there := has[string(t.KeyOf(r).Encode())]; !there {
			out = append(out, r)
		}
	}
	return out
}

// surviving returns the rows of a chunk that were not deleted since.
func (o *Opening) surviving(rows []table.Row) []table.Row {
	if len(o.deleted) == 0 {
		return rows
	}
	var out []table.Row
	for _, r := range rows {
		if o.survives(string(o.table.KeyOf(r).Encode())) {
			out = append(out, r)
		}
	}
	return out
}
