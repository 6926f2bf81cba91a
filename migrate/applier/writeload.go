package applier

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"locus/migrate/link"
	"locus/migrate/table"
)

// errUnclean means that LOAD DATA has not written all rows unchanged. It reports values that don't fit, and
// existing keys, only as warnings. An INSERT reports them as errors.
var errUnclean = errors.New("not all rows were loaded as they are")

// pieceBytes is the length of the pieces in which rows are sent.
const pieceBytes = 256 << 10

// mayLoad reports whether rows of a table may be written with LOAD DATA, which costs the target less than
// INSERTs, and this process much less. It may be disabled on the server; MySQL disables it by default.
func (w *worker) mayLoad(t *table.Table, rows []table.Row) bool {
	return w.loads && len(rows) > 0 && !w.unclean[t] && t.Loads()
}

// load writes all rows with LOAD DATA, or returns an error. After [errUnclean] the table is not loaded again.
func (w *worker) load(ctx context.Context, t *table.Table, rows []table.Row) error {
	o, err := w.conn.Load(ctx, t.LoadData(), w.lines(t, rows))
	switch {
	case err == nil && o.Affected == uint64(len(rows)) && o.Warnings == 0:
		return nil
	case err == nil, link.Code(err) != 0 && !link.Transient(err):
		if w.unclean == nil {
			w.unclean = map[*table.Table]bool{}
		}
		w.unclean[t] = true
		return errUnclean
	}
	return fmt.Errorf("load %d rows into %s: %w", len(rows), t.Name, err)
}

// lines returns the content of the file.
func (w *worker) lines(t *table.Table, rows []table.Row) iter.Seq[link.Statement] {
	limit := min(pieceBytes, w.statementLimit())
	return func(yield func(link.Statement) bool) {
		piece := link.Begin(w.buf)
		defer func() { w.keepBuffer(piece) }()
		for _, r := range rows {
			piece = t.AppendLine(piece, r)
			sent := 0
			for ; len(piece)-sent-link.Room > limit; sent += limit {
				if !yield(piece[sent : sent+link.Room+limit]) { // a later piece reuses the room of the bytes that were sent before it
					return
				}
			}
			if sent > 0 {
				rest := piece[sent+link.Room:]
				piece = append(link.Begin(piece), rest...)
			}
		}
		if !piece.Empty() {
			yield(piece)
		}
	}
}
