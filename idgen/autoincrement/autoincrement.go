// Package autoincrement takes numbers from AUTO_INCREMENT columns of 2ⁿ tables, on one server or several: value = id << n |
// index of the table. Each number leaves a row with its time.
//
// It owns the tables' definition and the rows that it inserts. It never deletes a row and never opens a connection. It doesn't
// choose the next table; package ha does. Other programs may insert into the tables too, if they leave the number to the server.
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
	Name    string        // as SQL
	Timeout time.Duration // time limit of one INSERT; 0 for the caller's limit
	Time    string        // the column that is set to the time, if it has no default; empty: none
}

// Create creates the table if it doesn't exist.
func (t Table) Create(ctx context.Context) error {
	_, err := t.DB.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS "+t.Name+` (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  issued TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)) ENGINE=InnoDB`)
	if err != nil {
		return fmt.Errorf("create %s: %w", t.Name, err)
	}
	return nil
}

// Exists returns an error if the table can't be read.
func (t Table) Exists(ctx context.Context) error {
	rows, err := t.DB.QueryContext(ctx, "SELECT id FROM "+t.Name+" LIMIT 0")
	if err != nil {
		return fmt.Errorf("read %s: %w", t.Name, err)
	}
	return errors.Join(rows.Err(), rows.Close())
}

// Generator takes from the tables in turn, as [ha.Generator] does, and skips unavailable ones. It is safe for concurrent use.
// The owner calls Close.
type Generator struct {
	*ha.Generator
	tables []*table
}

var _ idgen.Numbers = (*Generator)(nil)

// New returns a generator over 1, 2, 4 … 1,024 tables. Their order is part of the numbers, so it must be the same everywhere
// and for ever.
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

// Left returns the unused share of the tables' rows, from 1 down to 0, as far as this process knows.
func (g *Generator) Left() float64 {
	last := uint64(0)
	for _, t := range g.tables {
		last = max(last, t.last.Load())
	}
	return 1 - float64(last)*float64(len(g.tables))/float64(uint64(1)<<63)
}

// table generates the numbers of one table's rows.
type table struct {
	Table
	last atomic.Uint64 // the last row that this process has inserted
}

// maxRows bounds the rows of one INSERT.
const maxRows = 1000

// Fill implements idgen.Numbers with one row per number.
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

// insert takes the numbers of one INSERT within the timeout, so that a caller with more time can try another table.
func (t *table) insert(ctx context.Context, into []uint64) error {
	if t.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.Timeout)
		defer cancel()
	}
	return t.inserted(ctx, into)
}

// inserted takes the numbers of one INSERT. Its number of rows is known to InnoDB in advance. So InnoDB assigns consecutive numbers in every innodb_autoinc_lock_mode.
func (t *table) inserted(ctx context.Context, into []uint64) error {
	columns, values := "()", "()"
	if t.Time != "" {
		columns, values = "(`"+t.Time+"`)", "(NOW())"
	}
	insert := "INSERT INTO " + t.Name + " " + columns + " VALUES " + values + strings.Repeat(","+values, len(into)-1)
	if len(into) == 1 {
		result, err := t.DB.ExecContext(ctx, insert)
		return t.numbered(into, 1, result, err)
	}
	conn, err := t.DB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("auto_increment %s: %w", t.Name, err)
	}
	defer conn.Close()
	var step uint64 // servers of a cluster may use larger increments
	if err := conn.QueryRowContext(ctx, "SELECT @@auto_increment_increment").Scan(&step); err != nil {
		return fmt.Errorf("auto_increment %s: read the step: %w", t.Name, err)
	}
	result, err := conn.ExecContext(ctx, insert)
	return t.numbered(into, step, result, err)
}

// numbered returns the numbers of an INSERT's rows.
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
