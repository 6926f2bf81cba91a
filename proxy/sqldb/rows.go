package sqldb

import (
	"database/sql/driver"
	"io"

	"locus/proxy/backend"
)

// rows is a small result, wholly in memory.
type rows struct {
	left *backend.Rows
}

// Columns implements driver.Rows.
func (r *rows) Columns() []string {
	names := make([]string, len(r.left.Columns))
	for i, c := range r.left.Columns {
		names[i] = string(c.Name)
	}
	return names
}

// Next implements driver.Rows.
func (r *rows) Next(into []driver.Value) error {
	if len(r.left.Rows) == 0 {
		return io.EOF
	}
	for i, value := range r.left.Rows[0] {
		into[i] = nil
		if value != nil {
			into[i] = value
		}
	}
	r.left.Rows = r.left.Rows[1:]
	return nil
}

// Close implements driver.Rows.
func (*rows) Close() error { return nil }
