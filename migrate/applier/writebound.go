package applier

import (
	"context"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/migrate/link"
	"locus/migrate/table"
)

// insertBound writes rows with a prepared INSERT while there are enough of them, and returns the rest.
func (w *worker) insertBound(ctx context.Context, t *table.Table, rows []table.Row) (left []table.Row, err error) {
	n := t.BoundRows()
	for n > 0 && len(rows) >= n && sizeOf(rows[:n]) < w.statementLimit() {
		p, err := w.conn.Prepare(ctx, t.BoundInsert())
		if link.Code(err) != 0 { // for example, there are too many prepared statements; the plain INSERT reports any other problem
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		switch err := w.execute(ctx, t, p, rows[:n]); {
		case link.Code(err) == mysql.ER_NEED_REPREPARE: // nothing was executed
			return rows, nil
		case err != nil:
			return nil, fmt.Errorf("insert %d rows into %s: %w", n, t.Name, err)
		}
		rows = rows[n:]
	}
	return rows, nil
}

func (w *worker) execute(ctx context.Context, t *table.Table, p *link.Prepared, rows []table.Row) error {
	values := p.Values(w.buf, t.BoundParams())
	for _, r := range rows {
		if err := t.Bind(&values, r); err != nil {
			return err
		}
	}
	_, buf, err := w.conn.Execute(ctx, p, values)
	w.keepBuffer(buf)
	return err
}

func sizeOf(rows []table.Row) (bytes int) {
	for _, r := range rows {
		bytes += r.Size()
	}
	return bytes
}
