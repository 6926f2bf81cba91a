// Package autoincrement takes numbers from AUTO_INCREMENT columns of 2ⁿ tables,
// on one server or several: value = id << n | index of the table. Each number
// leaves a row with its time.
//
// It owns the tables' form and the rows that are put in. It never deletes a row,
// never opens a connection, never says whose turn it is (package ha does), and relies on nobody else inserting into the tables.
package autoincrement

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"locus/idgen"
	"locus/idgen/ha"
)

// Table is one table of a generator.
type Table struct {
	DB      *sql.DB
	Name    string        // as it stands in SQL
	Timeout time.Duration // of one INSERT; 0: as long as the caller waits
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

// Exists is an error if the table can't be read.
func (t Table) Exists(ctx context.Context) error {
	rows, err := t.DB.QueryContext(ctx, "SELECT id FROM "+t.Name+" LIMIT 0")
	if err != nil {
		return fmt.Errorf("read %s: %w", t.Name, err)
	}
	return errors.Join(rows.Err(), rows.Close())
}

// Generator takes from the tables in turn, as [ha.Generator] does: a table that is away is passed over. It is safe for
// concurrent use; the owner calls Close.
type Generator struct {
	*ha.Generator
	tables []*table
}

var _ idgen.Numbers = (*Generator)(nil)

// New is a generator over 1, 2, 4 … 1,024 tables. Their order is part of the
// numbers: it must be the same everywhere and for ever.
func New(o ha.Options, tables ...Table) (*Generator, error) {
	g := &Generator{}
	var members []idgen.Numbers
	for _, t := range tables {
		one := &table{Table: t}
		g.tables, members = append(g.tables, one), append(members, one)
	}
	var err error
	if g.Generator, err = ha.New(o, members...); err != nil {
		return nil, fmt.Errorf("auto_increment: tables: %w", err)
	}
	return g, nil
}

// Left is what is left of the tables' rows, from 1 down to 0, as far as this
// process knows.
func (g *Generator) Left() float64 {
	last := uint64(0)
	for _, t := range g.tables {
		last = max(last, t.last.Load())
	}
	return 1 - float64(last)*float64(len(g.tables))/float64(uint64(1)<<63)
}

// table is the numbers of one table's rows.
type table struct {
	Table
	last atomic.Uint64 // row that this process has made
}

// maxRows is how many rows one INSERT has at most.
const maxRows = 1000

// Fill implements idgen.Numbers: a row for each number.
func (t *table) Fill(ctx context.Context, into []uint64) error {
	for len(into) > 0 {
		n := min(len(into), maxRows)
		if err := t.insert(ctx, into[:n]); err != nil {
			return err
		}
		into = into[n:]
	}
	return nil
}

// insert takes the numbers of one INSERT, which ends in time: a caller who waits for longer has time for another table.
func (t *table) insert(ctx context.Context, into []uint64) error {
	if t.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.Timeout)
		defer cancel()
	}
	return t.inserted(ctx, into)
}

// inserted takes the numbers of one INSERT. It is the only kind of statement that
// changes the table, and names its number of rows, so InnoDB numbers the rows
// one after the other in every innodb_autoinc_lock_mode.
func (t *table) inserted(ctx context.Context, into []uint64) error {
	insert := "INSERT INTO " + t.Name + " () VALUES ()" + strings.Repeat(",()", len(into)-1)
	if len(into) == 1 {
		result, err := t.DB.ExecContext(ctx, insert)
		return t.numbered(into, 1, result, err)
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
	return t.numbered(into, step, result, err)
}

// numbered is the numbers of the rows that an INSERT has made.
func (t *table) numbered(into []uint64, step uint64, result sql.Result, err error) error {
	if err != nil {
		return fmt.Errorf("auto_increment %s: %w: rows may be there, their numbers are not used", t.Name, err)
	}
	first, err := result.LastInsertId()
	if err != nil || first <= 0 {
		return fmt.Errorf("auto_increment %s: the server says that the first row is %d: %w", t.Name, first, errors.Join(errNonsense, err))
	}
	last := uint64(first) + step*uint64(len(into)-1)
	for before := t.last.Load(); last > before && !t.last.CompareAndSwap(before, last); before = t.last.Load() {
	}
	for i := range into {
		into[i] = uint64(first) + step*uint64(i)
	}
	return nil
}

var errNonsense = errors.New("no AUTO_INCREMENT column")
