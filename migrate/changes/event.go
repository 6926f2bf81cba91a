package changes

import (
	"errors"
	"fmt"

	"locus/migrate/table"
)

// Change is one row as it was and as it is.
type Change struct {
	Table  *table.Table
	Before table.Row // nil: the row is new
	After  table.Row // nil: the row is gone
}

// Size is about how much memory the change takes.
func (c Change) Size() int { return c.Before.Size() + c.After.Size() }

// Event is the next of a feed.
type Event struct {
	// Changes are of one transaction, in their order; a transaction may give them
	// in several events.
	Changes []Change
	// Committed tells that a transaction has ended, with changes or without.
	Committed bool
}

// SchemaError is a statement that changed a watched table. The feed stands
// before it and can't go on: read the table anew and begin again from where all
// is applied, if the rows still fit.
type SchemaError struct {
	Table, Statement string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("table %s was changed while its rows are moved: %.200s", e.Table, e.Statement)
}

// RowsError is a change that the log does not tell whole.
type RowsError struct{ Table, What string }

func (e *RowsError) Error() string {
	return fmt.Sprintf("the log does not tell all of a change of table %s: %s; abort the move, set binlog_format=ROW, binlog_row_image=FULL and binlog_row_value_options='' for all sessions, and begin anew", e.Table, e.What)
}

// ErrPurged: the log does not go back to the position. Nothing helps but to copy
// anew.
var ErrPurged = errors.New("the server has no log from that position on any more: copy anew, and keep the log longer (binlog_expire_logs_seconds)")

// ErrClosed: the feed was closed.
var ErrClosed = errors.New("the feed is closed")
