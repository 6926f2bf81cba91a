package applier

import (
	"errors"

	"locus/migrate/table"
)

// Opening is what is noted for a chunk between before it is read at the source
// and when its rows are written: which keys the stream deleted meanwhile.
//
// A row of the chunk is written only if
//
//  1. the stream has come to where the source's log ended after the chunk was read,
//  2. the stream deleted no row of its key since the opening, and
//  3. the target has no row of its key.
//
// Why that is right: say the row was read at moment s, and the stream has come to
// p, not before s. If the source changed the key between s and p, the stream has
// written the later row, which (3) leaves alone, or has deleted the key, which (2)
// sees. If it did not, the row is what the source has at p; and a row that the
// target has already is the same one, because the stream wrote it. So no row comes
// back that was deleted, and none is replaced by an older one.
//
// TestInterleavings goes through all orders of copier, stream and writers.
type Opening struct {
	table   *table.Table
	part    int
	deleted map[string]struct{}
	tooMany bool
}

// mostDeleted bounds what one opening remembers.
const mostDeleted = 50_000

// ErrReadAgain: too much was deleted since the chunk was opened, or the log is
// another server's now. Nothing was written: open it anew and read again.
var ErrReadAgain = errors.New("the chunk must be read again")

func newOpening(l table.Lane) *Opening {
	return &Opening{table: l.Table, part: l.Part, deleted: map[string]struct{}{}}
}

// sawDelete notes that the stream deletes a key.
func (o *Opening) sawDelete(t *table.Table, part int, key string) {
	if o.table != t || o.part != part || o.tooMany {
		return
	}
	o.deleted[key] = struct{}{}
	if len(o.deleted) > mostDeleted {
		o.deleted, o.tooMany = nil, true
	}
}

// survives tells whether the stream has not deleted the key since the opening.
func (o *Opening) survives(key string) bool {
	_, gone := o.deleted[key]
	return !gone
}

// missing is which of a chunk's rows are to be written, given the keys that the
// target has. The order stays.
func missing(t *table.Table, rows []table.Row, has map[string]struct{}) []table.Row {
	var out []table.Row
	for _, r := range rows {
		if _, there := has[string(t.KeyOf(r).Encode())]; !there {
			out = append(out, r)
		}
	}
	return out
}

// surviving is the rows of a chunk that were not deleted since.
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
