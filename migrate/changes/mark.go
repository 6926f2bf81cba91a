package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"locus/migrate/link"
)

// Mark is a position in one server's log files. Unlike a Position it is meaningless on replicas. But it is sure to be
// after everything that an earlier query has seen, whereas MySQL shows rows a moment before it counts their GTID as
// executed.
type Mark struct {
	server, file string
	at           uint64
}

// ErrOtherLog means that the feed reads another server's log than the mark's.
var ErrOtherLog = errors.New("the mark is of another server's log")

// ReadMark returns the end of a server's log.
func ReadMark(ctx context.Context, c *link.Conn) (Mark, error) {
	server, err := serverID(ctx, c)
	if err != nil {
		return Mark{}, err
	}
	m, err := logEnd(ctx, c)
	m.server = server
	return m, err
}

// logEnd returns a mark of the end of a server's log, without the server's identity.
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

// identity returns an expression that identifies a server.
func identity(c *link.Conn) string {
	if c.Version().Flavor == link.MariaDB {
		return "CONCAT(@@GLOBAL.server_id, '/', @@GLOBAL.hostname)"
	}
	return "@@GLOBAL.server_uuid"
}

// Reaches reports whether everything before the other mark is before this one.
func (m Mark) Reaches(other Mark) (bool, error) {
	if m.server != other.server {
		return false, ErrOtherLog
	}
	if order := compareFiles(m.file, other.file); order != 0 {
		return order > 0, nil
	}
	return m.at >= other.at, nil
}

// Past reports whether everything before the other mark was returned, as far as is known. Another server's log has
// other files, so only GTIDs count there.
func (m Mark) Past(other Mark) bool {
	reached, err := m.Reaches(other)
	return reached || err != nil && !m.IsZero() || other.IsZero()
}

// compareFiles compares names by their numbers, which may become longer: binlog.999999 precedes binlog.1000000.
func compareFiles(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// IsZero reports whether the mark has no server, like that of an unconnected feed.
func (m Mark) IsZero() bool { return m == Mark{} }
