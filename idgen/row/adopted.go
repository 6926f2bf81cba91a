package row

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"

	"locus/idgen"
	"locus/idgen/segment"
)

// Holds is the meaning of an adopted row's value to the program that made the row.
type Holds string

const (
	// HoldsEither leaves one number between two grants unused, so that both meanings are right.
	HoldsEither Holds = ""
	HoldsLast   Holds = "last" // the last number in use
	HoldsNext   Holds = "next" // the next number to use
)

// Shape describes a table that another program has made, which may continue to use it.
type Shape struct {
	Table string // schema.table
	Value string // the column with the number
	Key   string // the column that distinguishes rows; empty: the table has one row
	Row   string // the value of Key
	Holds Holds
}

// Adopted takes numbers from one row of such a table, by a compare-and-swap of its value. It never creates the row, and touches no
// other column. It is safe for concurrent use, also of programs that raise the value in any way.
type Adopted struct {
	db     *sql.DB
	shape  Shape
	where  string // condition that selects the row, with its argument
	args   []any
	bounds segment.Seen
}

var _ segment.Store = (*Adopted)(nil)

var columnName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// Adopt returns the numbers of a row. It reads nothing yet.
func Adopt(db *sql.DB, s Shape) (*Adopted, error) {
	if !tableName.MatchString(s.Table) || !columnName.MatchString(s.Value) || s.Key != "" && !columnName.MatchString(s.Key) {
		return nil, fmt.Errorf("adopt %s: names of tables and columns have letters, digits and '_'", s.Table)
	}
	a := &Adopted{db: db, shape: s, where: " WHERE "}
	if s.Key != "" {
		a.where, a.args = " WHERE `"+s.Key+"` = ? AND ", []any{s.Row}
	}
	return a, nil
}

// Extend grants the next n numbers. The counter's name has no effect.
func (a *Adopted) Extend(ctx context.Context, _ string, n uint64) (segment.Grant, error) {
	for {
		value, err := a.read(ctx)
		if err != nil {
			return segment.Grant{}, fmt.Errorf("extend %s by %d: %w", a.name(), n, err)
		}
		g, next, err := a.shape.Holds.grant(value, n)
		if err != nil {
			return segment.Grant{}, fmt.Errorf("extend %s by %d: %w", a.name(), n, err)
		}
		done, err := a.swap(ctx, value, next)
		if err != nil {
			return segment.Grant{}, fmt.Errorf("extend %s from %d to %d: %w: these numbers may be lost", a.name(), value, next, err)
		}
		if done {
			a.bounds.Saw("", next)
			return g, nil
		}
		// Another program was faster, so there is progress.
	}
}

// grant returns the n numbers that follow a value, and the value after them.
func (h Holds) grant(value, n uint64) (g segment.Grant, next uint64, err error) {
	if n == 0 || n > maxID-1-min(value, maxID-1) {
		return g, 0, fmt.Errorf("it is at %d, and numbers end at %d: %w", value, uint64(maxID), idgen.ErrOutOfRange)
	}
	switch {
	case h == HoldsNext:
		first := max(value, 1)
		return segment.Grant{First: first, Last: first + n - 1}, first + n, nil
	case h == HoldsLast:
		return segment.Grant{First: value + 1, Last: value + n}, value + n, nil
	}
	return segment.Grant{First: value + 1, Last: value + n}, value + n + 1, nil
}

func (a *Adopted) name() string {
	if a.shape.Key == "" {
		return a.shape.Table
	}
	return fmt.Sprintf("%s of %s", a.shape.Row, a.shape.Table)
}

// read returns the value of the row. It reads the highest observed value first, because a later one may be written in the
// meantime.
func (a *Adopted) read(ctx context.Context) (uint64, error) {
	floor := a.bounds.Of("")
	rows, err := a.db.QueryContext(ctx, "SELECT `"+a.shape.Value+"` FROM "+a.shape.Table+a.where+"1 = 1 LIMIT 2", a.args...)
	if err != nil {
		return 0, fmt.Errorf("read it: %w", err)
	}
	defer rows.Close()
	var values []uint64
	for rows.Next() {
		var value uint64
		if err := rows.Scan(&value); err != nil {
			return 0, fmt.Errorf("read it: %w", err)
		}
		values = append(values, value)
	}
	switch err := errors.Join(rows.Err(), rows.Close()); {
	case err != nil:
		return 0, fmt.Errorf("read it: %w", err)
	case len(values) == 0:
		return 0, fmt.Errorf("%w: the row is not there: INSERT it with a %s above every number in use", segment.ErrUnknownTag, a.shape.Value)
	case len(values) > 1:
		return 0, errors.New("it has several rows: name the column that distinguishes them, and the row")
	case values[0] < floor:
		return 0, fmt.Errorf("%w: %s is %d, this process has seen %d: set it above every number in use", segment.ErrWentBack, a.shape.Value, values[0], floor)
	}
	a.bounds.Saw("", values[0])
	return values[0], nil
}

func (a *Adopted) swap(ctx context.Context, value, next uint64) (bool, error) {
	args := append([]any{next}, a.args...)
	result, err := a.db.ExecContext(ctx, "UPDATE "+a.shape.Table+" SET `"+a.shape.Value+"` = ?"+a.where+"`"+a.shape.Value+"` = ?", append(args, value)...)
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	if rows > 1 {
		return false, fmt.Errorf("%d rows were changed: name the column that distinguishes them, and the row", rows)
	}
	return rows == 1, err
}

// Check returns an error if the row can't be read.
func (a *Adopted) Check(ctx context.Context) error {
	_, err := a.read(ctx)
	return err
}

// Left returns the unused share of the numbers, from 1 down to 0, as far as this process knows.
func (a *Adopted) Left() float64 { return 1 - float64(a.bounds.Of(""))/maxID }

// Generator takes each call's numbers from the row. lock may be nil.
func (a *Adopted) Generator(lock Lock) idgen.Numbers {
	return idgen.Run{Take: func(ctx context.Context, n int) (uint64, error) {
		if lock != nil {
			if unlock, err := lock.Lock(ctx); err == nil {
				defer unlock()
			}
		}
		g, err := a.Extend(ctx, "", uint64(n))
		return g.First, err
	}}
}
