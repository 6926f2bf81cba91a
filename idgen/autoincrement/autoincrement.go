// Package autoincrement takes numbers from AUTO_INCREMENT columns of 2ⁿ tables,
// on one server or several: value = id << n | index of the table. Each number
// leaves a row with its time.
//
// It owns the tables' form and the turn of the tables. It never deletes a row,
// never opens a connection, and relies on nobody else inserting into the tables.
package autoincrement

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync/atomic"

	"locus/idgen"
)

// Table is one table of a generator.
type Table struct {
	DB   *sql.DB
	Name string // as it stands in SQL
}

// Create makes the table if it is not there.
func (t Table) Create(ctx context.Context) error {
	_, err := t.DB.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+t.Name+` (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  issued TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)) ENGINE=InnoDB`)
	if err != nil {
		return fmt.Errorf("create %s: %w", t.Name, err)
	}
	return nil
}

// Generator is safe for concurrent use. The order of its tables is part of the
// numbers: it must be the same everywhere and for ever.
type Generator struct {
	tables []Table
	shift  uint
	turn   atomic.Uint64
	last   atomic.Uint64 // row that this process has made
}

var _ idgen.Numbers = (*Generator)(nil)

// New is a generator over 1, 2, 4 … 1,024 tables.
func New(tables ...Table) (*Generator, error) {
	n := len(tables)
	if n < 1 || n > 1024 || n&(n-1) != 0 {
		return nil, fmt.Errorf("auto_increment: %d tables: their number is a power of two, 1 to 1024, since the index is the low bits", n)
	}
	return &Generator{tables: tables, shift: uint(bits.TrailingZeros(uint(n)))}, nil
}

// maxRows is how many rows one INSERT has at most.
const maxRows = 1000

// Fill implements idgen.Numbers: a row for each number.
func (g *Generator) Fill(ctx context.Context, into []uint64) error {
	for len(into) > 0 {
		n := min(len(into), maxRows)
		if err := g.insert(ctx, into[:n]); err != nil {
			return err
		}
		into = into[n:]
	}
	return nil
}

// insert takes the numbers of one INSERT. It is the only kind of statement that
// changes the table, and names its number of rows, so InnoDB numbers the rows
// one after the other in every innodb_autoinc_lock_mode.
func (g *Generator) insert(ctx context.Context, into []uint64) error {
	index := g.turn.Add(1) & (uint64(len(g.tables)) - 1)
	t := g.tables[index]
	insert := "INSERT INTO " + t.Name + " () VALUES ()" + strings.Repeat(",()", len(into)-1)
	if len(into) == 1 {
		result, err := t.DB.ExecContext(ctx, insert)
		return g.numbered(into, t, index, 1, result, err)
	}
	conn, err := t.DB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("auto_increment %s: %w", t.Name, err)
	}
	defer conn.Close()
	var step uint64 // servers of a cluster count in larger ones
	if err := conn.QueryRowContext(ctx, "SELECT @@auto_increment_increment").Scan(&step); err != nil {
		return fmt.Errorf("auto_increment %s: read the step: %w", t.Name, err)
	}
	result, err := conn.ExecContext(ctx, insert)
	return g.numbered(into, t, index, step, result, err)
}

// numbered is the numbers of the rows that an INSERT has made.
func (g *Generator) numbered(into []uint64, t Table, index, step uint64, result sql.Result, err error) error {
	if err != nil {
		return fmt.Errorf("auto_increment %s: %w: rows may be there, their numbers are not used", t.Name, err)
	}
	first, err := result.LastInsertId()
	if err != nil || first <= 0 {
		return fmt.Errorf("auto_increment %s: the server says that the first row is %d: %w", t.Name, first, errors.Join(errNonsense, err))
	}
	last := uint64(first) + step*uint64(len(into)-1)
	if last >= 1<<(63-g.shift) {
		return fmt.Errorf("auto_increment %s: row %d: %w", t.Name, last, idgen.ErrOutOfRange)
	}
	for before := g.last.Load(); last > before && !g.last.CompareAndSwap(before, last); before = g.last.Load() {
	}
	for i := range into {
		into[i] = (uint64(first)+step*uint64(i))<<g.shift | index
	}
	return nil
}

// Left is what is left of the tables' rows, from 1 down to 0, as far as this
// process knows.
func (g *Generator) Left() float64 {
	return 1 - float64(g.last.Load())/float64(uint64(1)<<(63-g.shift))
}

var errNonsense = errors.New("no AUTO_INCREMENT column")
