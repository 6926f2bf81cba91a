package applier

import (
	"context"
	"fmt"
	"slices"

	"locus/migrate/checkpoint"
	"locus/migrate/link"
	"locus/migrate/table"
)

// Levels of care with which a transaction is written. Rows in the way are not searched for until there is one.
const (
	quick = iota
	// cleared first deletes the rows of all keys, including new ones.
	cleared
	// mostCareful writes changes one by one, in the source's order, and records as conflicts those that a unique key
	// refuses.
	mostCareful
)

const (
	statementBytes = 1 << 20
	keysPerQuery   = 1000
)

// note writes the worker's checkpoint. It is the transaction's first write and marks the transaction's rows as an echo.
func (w *worker) note(ctx context.Context, a checkpoint.Advance) error {
	p, err := w.conn.Post(ctx, a.SQL())
	if err != nil {
		return err
	}
	return noted(ctx, p)
}

// noted returns the outcome of a checkpoint that was posted. Nothing may be committed before.
func noted(ctx context.Context, p *link.Posted) error {
	o, err := p.Outcome(ctx)
	if err != nil {
		return fmt.Errorf("write the checkpoint: %w", err)
	}
	if o.Affected != 1 {
		return checkpoint.ErrFenced
	}
	return nil
}

// insert writes rows of one table, several per statement.
func (w *worker) insert(ctx context.Context, t *table.Table, rows []table.Row, tail string) error {
	if slices.ContainsFunc(rows, t.Lax) {
		if _, err := w.conn.Exec(ctx, "SET SESSION sql_mode = '"+link.Lax+"'"); err != nil {
			return err
		}
		err := w.insertText(ctx, t, rows, tail)
		if w.conn.Broken() != nil {
			return err
		}
		if _, reset := w.conn.Exec(ctx, "SET SESSION sql_mode = '"+link.Strict+"'"); reset != nil && err == nil {
			err = reset
		}
		return err
	}
	if tail == "" {
		var err error
		if rows, err = w.insertBound(ctx, t, rows); err != nil {
			return err
		}
	}
	return w.insertText(ctx, t, rows, tail)
}

// statementLimit returns the length of statements with more than one row.
func (w *worker) statementLimit() int { return min(statementBytes, w.applier.packet/2) }

func (w *worker) insertText(ctx context.Context, t *table.Table, rows []table.Row, tail string) error {
	limit := w.statementLimit()
	for len(rows) > 0 {
		s := link.Begin(w.buf)
		if need := rows[0].Size() * 9 / 8; need > limit && cap(s) < need {
			s = link.Begin(make([]byte, 0, need+limit)) // allocated at once, since growing would copy it repeatedly
		}
		s = t.AppendInsert(s)
		n := 0
		for ; n < len(rows) && (n == 0 || len(s)+rows[n].Size() < limit); n++ {
			if n > 0 {
				s = append(s, ',')
			}
			s = t.AppendValues(s, rows[n])
		}
		s = append(s, tail...)
		err := w.send1(ctx, s)
		if err != nil {
			return fmt.Errorf("insert %d rows into %s: %w", n, t.Name, err)
		}
		rows = rows[n:]
	}
	return nil
}

// LongError is about a statement too long for the server.
type LongError struct{ bytes, takes int }

func (e *LongError) Error() string {
	return fmt.Sprintf("a statement of %d bytes, and the target takes %d: raise its max_allowed_packet, then resume", e.bytes, e.takes)
}

// send1 runs a statement, and keeps its buffer for the next unless it is large.
func (w *worker) send1(ctx context.Context, s []byte) error {
	if len(s) > w.applier.packet {
		return &LongError{len(s), w.applier.packet}
	}
	_, err := w.conn.Send(ctx, s)
	w.keepBuffer(s)
	return err
}

func (w *worker) keepBuffer(b []byte) {
	if w.buf = b; cap(b) > 4*statementBytes {
		w.buf = nil
	}
}

// byKey makes the server find rows by their key, however few the table has. A scan would wait for locks on unrelated rows.
func byKey(t *table.Table) string { return " FORCE INDEX (" + link.Name(t.Key.Name) + ")" }

// remove deletes rows by key, of the moving genes only.
func (w *worker) remove(ctx context.Context, t *table.Table, keys []table.Key) error {
	for some := range slices.Chunk(keys, keysPerQuery) {
		s := append(link.Begin(w.buf), w.deletion(t)+" WHERE "...)
		s = t.AppendKeyIn(s, some)
		s = append(s, w.applier.own(t)...)
		if err := w.send1(ctx, s); err != nil {
			return fmt.Errorf("delete %d rows of %s: %w", len(some), t.Name, err)
		}
	}
	return nil
}

// deletion begins a DELETE by key, in the server's own syntax.
func (w *worker) deletion(t *table.Table) string {
	if w.conn.Version().Flavor == link.MariaDB {
		return "DELETE FROM " + t.SQL() + " USING " + t.SQL() + byKey(t)
	}
	return "DELETE /*+ INDEX(" + link.Name(t.Name.Name) + " " + link.Name(t.Key.Name) + ") */ FROM " + t.SQL()
}

// own returns the condition that excludes rows of other genes, if the key alone doesn't determine a row's gene.
func (a *Applier) own(t *table.Table) string {
	if t.KeyTellsGene() {
		return ""
	}
	return " AND " + t.Condition(a.genes)
}

// standingRows reads and locks the target's rows with the given keys.
func (w *worker) standingRows(ctx context.Context, t *table.Table, keys []table.Key, take func(id string, r table.Row)) error {
	for some := range slices.Chunk(keys, keysPerQuery) {
		s := append([]byte(nil), "SELECT "+t.ReadList()+" FROM "+t.SQL()+byKey(t)+" WHERE "...)
		s = append(t.AppendKeyIn(s, some), w.applier.own(t)+" FOR UPDATE"...)
		err := w.conn.Each(ctx, string(s), func(values [][]byte) error {
			r, err := t.Logged(values)
			if err == nil {
				take(string(t.KeyOf(r).Encode()), r)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("read rows of %s at the target: %w", t.Name, err)
		}
	}
	return nil
}

// keep stores a record.
func (w *worker) keep(ctx context.Context, r record, position string) error {
	image := func(row table.Row) []byte {
		if row == nil {
			return nil
		}
		return r.op.table.AppendValues(nil, row)
	}
	incoming := r.op.after
	reason := r.reason
	if incoming == nil {
		incoming, reason = r.op.before, "a DELETE: "+reason
	}
	return w.send1(ctx, checkpoint.AppendConflict(link.Begin(nil), w.applier.config.Job, checkpoint.Conflict{
		Table: r.op.table.Name.String(), Reason: reason, Incoming: image(incoming), Standing: image(r.standing), Position: position,
	}))
}
