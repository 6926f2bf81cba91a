package copier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locus/migrate/applier"
	"locus/migrate/checkpoint"
	"locus/migrate/link"
	"locus/migrate/table"
)

// Number of rows in a chunk.
const (
	firstChunk = 500
	mostRows   = 50_000
)

// lane is a lane and its progress. It belongs to one goroutine.
type lane struct {
	table.Lane
	of      *counted
	state   checkpoint.Lane
	through table.Key // the last key copied; nil before the first
	step    table.Step
	size    int  // rows of the next chunk
	filled  bool // another goroutine sets its gene column, so a row's gene may not match its owner yet
	locks   bool // the next chunk's rows are locked until it has landed
	long    bool // some rows are too long to read concurrently with other lanes
}

// longRow is the longest row, in bytes, with which lanes are read concurrently.
const longRow = 2 << 20

func newLane(l table.Lane, of *counted, chunkBytes int64) *lane {
	size := firstChunk
	if l.Table.RowBytes > 0 {
		size = int(min(max(chunkBytes/int64(l.Table.RowBytes), 1), firstChunk))
	}
	return &lane{Lane: l, of: of, size: size, long: l.Table.RowBytes > longRow}
}

func (l *lane) begin() { l.step = l.Walk(l.through) }

// next is the lane's state after a chunk.
type next struct {
	step    table.Step
	through table.Key
	state   checkpoint.Lane
	full    bool // the chunk has all the rows requested
}

// read reads a chunk. If the rows exceed the chunk's bytes, it stops early and the connection may be broken, since that
// is cheaper than reading the rest.
func (l *lane) read(ctx context.Context, conn *link.Conn, most int) (applier.Chunk, next, error) {
	t := l.Table
	chunk := applier.Chunk{Lane: l.Lane, Range: table.Range{Above: l.through}}
	query := "SELECT " + t.ReadList() + " FROM " + t.SQL() + " WHERE " + l.step.Where + t.Order() + table.Limit(l.size)
	if l.locks {
		query += " LOCK IN SHARE MODE"
	}
	enough := false
	err := conn.Each(ctx, query, func(values [][]byte) error {
		row, err := t.Canonical(values)
		if err != nil {
			return err
		}
		if err := l.check(row); err != nil {
			return err
		}
		chunk.Rows = append(chunk.Rows, row)
		l.long = l.long || row.Size() > longRow
		if chunk.Bytes += row.Size(); chunk.Bytes >= most && len(chunk.Rows) < l.size {
			enough = true
			return link.ErrEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, link.ErrEnough) {
		return chunk, next{}, fmt.Errorf("read a chunk: %w", err)
	}
	n := next{step: l.step, through: l.through, full: enough || len(chunk.Rows) == l.size}
	if len(chunk.Rows) > 0 {
		n.through = t.KeyOf(chunk.Rows[len(chunk.Rows)-1])
		chunk.Range.UpTo = n.through
	}
	n.state = checkpoint.Lane{
		Through: n.through.Encode(), Rows: l.state.Rows + uint64(len(chunk.Rows)), Bytes: l.state.Bytes + uint64(chunk.Bytes),
		Done: !n.full && l.step.Last,
	}
	if n.full {
		n.step = l.Walk(n.through)
	} else {
		n.step = l.Beyond(l.step, n.through)
	}
	chunk.State = n.state
	return chunk, n, nil
}

// check refuses a row whose owner has other genes than its ID.
func (l *lane) check(r table.Row) error {
	g, err := l.Table.GeneOf(r)
	if err != nil || l.filled {
		return err
	}
	return l.Table.CheckGene(r, g)
}

// advance moves past a chunk that has landed. It sets the next chunk's size for the intended duration, at most twice
// the last size; it shrinks without limit.
func (l *lane) advance(n next, chunk applier.Chunk, took, aim time.Duration) {
	l.step, l.through, l.state = n.step, n.through, n.state
	rows := len(chunk.Rows)
	if rows == 0 || took <= 0 {
		return
	}
	fit := int(float64(rows) * float64(aim) / float64(took))
	l.size = min(max(fit, 1), 2*l.size, mostRows)
}
