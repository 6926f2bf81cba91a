package applier

import (
	"context"
	"fmt"

	"locus/migrate/checkpoint"
	"locus/migrate/link"
	"locus/migrate/table"
)

// chunkWriter writes a chunk of the copy.
type chunkWriter struct {
	worker    *worker
	chunk     Chunk
	position  string
	conflicts int
}

func (c *chunkWriter) committed() {
	c.worker.applier.progress.conflicts.Add(int64(c.conflicts))
}

func (c *chunkWriter) write(ctx context.Context, careful int) error {
	w, t := c.worker, c.chunk.Lane.Table
	c.conflicts = 0
	if err := w.note(ctx, w.advance(c.position, 0, 0)); err != nil {
		return err
	}
	has, err := c.present(ctx)
	if err != nil {
		return err
	}
	rows := missing(t, c.chunk.Rows, has)
	switch {
	case careful == quick && w.mayLoad(t, rows):
		err = w.load(ctx, t, rows)
	case careful < mostCareful:
		err = w.insert(ctx, t, rows, "")
	default:
		err = c.oneByOne(ctx, rows)
	}
	if err != nil {
		return err
	}
	if err := w.stopAt(Written); err != nil {
		return err
	}
	if _, err := w.conn.Exec(ctx, checkpoint.LaneSQL(w.applier.config.Job, checkpoint.Copy, c.chunk.Lane.Name(), c.chunk.State)); err != nil {
		return fmt.Errorf("write how far the copy is: %w", err)
	}
	return nil
}

// present returns the keys of the moving genes that the target has in the chunk's range.
func (c *chunkWriter) present(ctx context.Context) (map[string]struct{}, error) {
	t := c.chunk.Lane.Table
	has := map[string]struct{}{}
	if len(c.chunk.Rows) == 0 {
		return has, nil
	}
	query := "SELECT " + t.KeyList() + " FROM " + t.SQL() + " WHERE " + c.chunk.Lane.Where(c.chunk.Range)
	err := c.worker.conn.Each(ctx, query, func(values [][]byte) error {
		has[string(table.Key(values).Encode())] = struct{}{}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the keys of %s at the target: %w", t.Name, err)
	}
	return has, nil
}

// oneByOne writes rows one by one and records those that are refused, unless the comparison makes them equal.
func (c *chunkWriter) oneByOne(ctx context.Context, rows []table.Row) error {
	w, t := c.worker, c.chunk.Lane.Table
	for _, r := range rows {
		err := w.insert(ctx, t, []table.Row{r}, "")
		if err == nil {
			continue
		}
		if !link.Duplicate(err) {
			return err
		}
		refused := record{op: op{table: t, key: t.KeyOf(r), after: r}, reason: "copied: " + link.Reason(err)}
		if refused.op.incomplete() {
			continue
		}
		c.conflicts++
		if err := w.keep(ctx, refused, ""); err != nil {
			return fmt.Errorf("keep a conflict: %w", err)
		}
	}
	if c.conflicts == 0 {
		return nil
	}
	return w.note(ctx, w.advance("", 0, c.conflicts))
}
