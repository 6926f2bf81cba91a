package copies

import (
	"context"
	"errors"
	"time"

	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router/catalog"
)

// Pair is a global table on two servers. The other server's rows must equal those of the first. One goroutine
// uses it.
type Pair struct {
	Table        *table.Table
	first, other *link.Conn
	// rows counts the rows of the other server that have been read.
	rows uint64
}

// MissingError reports a table that the other server does not have.
type MissingError struct{ Name catalog.TableName }

func (e *MissingError) Error() string { return "table " + e.Name.String() + " does not exist there" }

// MisfitError reports a table that has another definition on the other server.
type MisfitError struct{ Name catalog.TableName }

func (e *MisfitError) Error() string {
	return "table " + e.Name.String() + " has other columns there, or another primary key"
}

// UnreadableError reports a table whose rows can't be identified, or not be read without loss.
type UnreadableError struct{ cause error }

func (e *UnreadableError) Error() string { return e.cause.Error() }

func (e *UnreadableError) Unwrap() error { return e.cause }

// lockPatience limits the wait for a locked row, because clients wait meanwhile for the rows that are locked
// here.
const lockPatience = "SET SESSION innodb_lock_wait_timeout = 1"

// Read reads a table's definition on both servers. The error is a *MissingError, a *MisfitError, an
// *UnreadableError, or the error of a query.
func Read(ctx context.Context, first, other *link.Conn, name catalog.TableName, d catalog.Declaration, width gene.Width) (*Pair, error) {
	if there, err := Has(ctx, other, name); err != nil || !there {
		return nil, errors.Join(err, &MissingError{name})
	}
	var tables [2]*table.Table
	for i, c := range []*link.Conn{first, other} {
		t, err := table.ReadGlobal(ctx, c, name, d, width)
		switch {
		case err != nil && c.Broken() == nil && ctx.Err() == nil:
			return nil, &UnreadableError{err}
		case err != nil:
			return nil, err
		}
		tables[i] = t
		if _, err := c.Exec(ctx, lockPatience); err != nil {
			return nil, err
		}
	}
	if tables[0].ReadList() != tables[1].ReadList() || tables[0].KeyList() != tables[1].KeyList() {
		return nil, &MisfitError{name}
	}
	return &Pair{Table: tables[0], first: first, other: other}, nil
}

// Has reports whether a server has a table or view of that name.
func Has(ctx context.Context, c *link.Conn, name catalog.TableName) (bool, error) {
	rows, err := c.Query(ctx, "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+link.Text(name.Schema)+" AND TABLE_NAME = "+link.Text(name.Name))
	return len(rows) > 0, err
}

// Counted reports whether both servers have the same number of rows of a table that can't be compared. If they
// don't, it counts again.
func Counted(ctx context.Context, first, other *link.Conn, name catalog.TableName) (same bool, err error) {
	for range looks {
		var counts [2]string
		for i, c := range []*link.Conn{first, other} {
			rows, err := c.Query(ctx, "SELECT COUNT(*) FROM "+link.Name(name.Schema)+"."+link.Name(name.Name))
			if err != nil {
				return false, err
			}
			counts[i] = string(rows[0][0])
		}
		if counts[0] == counts[1] {
			return true, nil
		}
		if err := pause(ctx, again); err != nil {
			return false, err
		}
	}
	return false, nil
}

// Number of checks of a difference, and the pause between them. A write reaches one shard a moment before it
// reaches another.
const (
	looks = 3
	again = 300 * time.Millisecond
)

func pause(ctx context.Context, t time.Duration) error {
	select {
	case <-time.After(t):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
