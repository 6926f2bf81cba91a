package changes

import (
	"errors"
	"fmt"

	"locus/migrate/table"
)

// Change is one row before and after a change.
type Change struct {
	Table  *table.Table
	Before table.Row // nil if the row is new
	After  table.Row // nil if the row is deleted
	// Cascades reports that the server may have changed rows that refer to this one, by foreign keys, and not logged that.
	Cascades bool
}

// Size returns the approximate memory size of the change.
func (c Change) Size() int { return c.Before.Size() + c.After.Size() }

// Event is the next event of a feed.
type Event struct {
	// Changes belong to one transaction, in order. A transaction may take several events.
	Changes []Change
	// Committed reports that a transaction has ended, with or without changes.
	Committed bool
}

// SchemaError means that a statement changed a watched table. The feed is positioned before it and can't continue. If
// the rows still fit, read the table's definition again and restart from where everything is applied.
type SchemaError struct {
	Table, Statement string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("table %s was changed while its rows are moved: %.200s", e.Table, e.Statement)
}

// RowsError means that the log doesn't contain a change completely.
type RowsError struct{ Table, What string }

func (e *RowsError) Error() string {
	return fmt.Sprintf("the log does not contain a whole change of table %s: %s; abort the job, set binlog_format=ROW, binlog_row_image=FULL and binlog_row_value_options='' for all sessions, and start a new job", e.Table, e.What)
}

// ErrPurged means that the log no longer goes back to the position. The only remedy is to copy again.
var ErrPurged = errors.New("the server's log no longer contains that position: start a new job, and keep the log longer (binlog_expire_logs_seconds)")

// ErrClosed means that the feed was closed.
var ErrClosed = errors.New("the feed is closed")
