package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"locus/migrate/link"
)

// Mark is a place in the log files of one server. Unlike a position it means
// nothing to its replicas, and unlike one it is certain to be after everything
// that a query has seen before: MySQL shows rows a moment before it counts their
// GTID as executed.
type Mark struct {
	server, file string
	at           uint64
}

// ErrOtherLog: the feed reads the log of another server than the mark is of.
var ErrOtherLog = errors.New("the mark is of another server's log")

// ReadMark is the end of a server's log.
func ReadMark(ctx context.Context, c *link.Conn) (Mark, error) {
	server, err := serverID(ctx, c)
	if err != nil {
		return Mark{}, err
	}
	m, err := logEnd(ctx, c)
	m.server = server
	return m, err
}

// logEnd is a mark of the end of a server's log that doesn't say of which server.
func logEnd(ctx context.Context, c *link.Conn) (Mark, error) {
	query := "SHOW MASTER STATUS"
	if v := c.Version(); v.Flavor == link.MySQL && v.AtLeast(8, 2, 0) {
		query = "SHOW BINARY LOG STATUS"
	}
	rows, err := c.Query(ctx, query)
	if err != nil {
		return Mark{}, fmt.Errorf("read the end of the log: %w", err)
	}
	if len(rows) == 0 {
		return Mark{}, errors.New("read the end of the log: the server writes none; set log_bin")
	}
	at, err := strconv.ParseUint(string(rows[0][1]), 10, 64)
	return Mark{file: string(rows[0][0]), at: at}, err
}

func serverID(ctx context.Context, c *link.Conn) (string, error) {
	rows, err := c.Query(ctx, "SELECT "+identity(c))
	if err != nil {
		return "", fmt.Errorf("read the server's identity: %w", err)
	}
	return string(rows[0][0]), nil
}

// identity is an expression that tells servers apart.
func identity(c *link.Conn) string {
	if c.Version().Flavor == link.MariaDB {
		return "CONCAT(@@GLOBAL.server_id, '/', @@GLOBAL.hostname)"
	}
	return "@@GLOBAL.server_uuid"
}

// Reaches tells whether everything before the other mark is before this one.
func (m Mark) Reaches(other Mark) (bool, error) {
	if m.server != other.server {
		return false, ErrOtherLog
	}
	if order := compareFiles(m.file, other.file); order != 0 {
		return order > 0, nil
	}
	return m.at >= other.at, nil
}

// Past tells whether all before the other mark was given out, as far as that can be
// told: another server's log has other files, and GTIDs alone count there.
func (m Mark) Past(other Mark) bool {
	reached, err := m.Reaches(other)
	return reached || err != nil && !m.IsZero() || other.IsZero()
}

// compareFiles orders names by their numbers, which grow longer some day:
// binlog.999999 is before binlog.1000000.
func compareFiles(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// IsZero tells a mark of no server: a feed's that is not connected.
func (m Mark) IsZero() bool { return m == Mark{} }
