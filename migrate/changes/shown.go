package changes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locus/migrate/link"
)

const (
	// shownPatience bounds how long a server may take to commit a transaction that is in its log.
	shownPatience = time.Minute
	// shownPause is the longest pause between two checks.
	shownPause = 50 * time.Millisecond
)

// WaitShown waits until queries at the server show everything that was returned before a position of a [Feed]. A server writes a
// transaction to its log before it commits the transaction. In between, a feed may return changes that no query shows. The
// transaction may wait for a semi-synchronous replica then (rpl_semi_sync_source_wait_point = AFTER_SYNC), or for CPU time.
func WaitShown(ctx context.Context, c *link.Conn, p Position) error {
	shown, err := shows(ctx, c, p)
	if err != nil {
		return err
	}
	return awaitShown(ctx, shown)
}

// awaitShown repeats a check until it returns true, at most for shownPatience.
func awaitShown(ctx context.Context, shown func(context.Context) (bool, error)) error {
	limited, cancel := context.WithTimeout(ctx, shownPatience)
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, shownPause) {
		done, err := shown(limited)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && limited.Err() != nil:
			return fmt.Errorf("read how far the server has committed its log: it has not answered within %v: %w", shownPatience, err)
		case done, err != nil:
			return err
		}
		switch err := rest(limited, wait); {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("for %v, the server has had transactions in its log that it has not committed: with semi-synchronous replication they wait until a replica acknowledges them", shownPatience)
		}
	}
}

// shows returns a check of whether queries show everything before a position.
func shows(ctx context.Context, c *link.Conn, p Position) (func(context.Context) (bool, error), error) {
	if c.Version().Flavor == link.MariaDB {
		end, err := logEnd(ctx, c)
		m := &mariaDBShows{conn: c, end: end}
		return m.check, err
	}
	seen, err := p.begun()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (bool, error) {
		text, err := valueOn(ctx, c, "@@GLOBAL.gtid_executed")
		if err != nil {
			return false, err
		}
		executed, err := parseSet(link.MySQL, text)
		return err == nil && contains(executed, seen), err
	}, nil
}

// mariaDBShows checks whether queries show everything before an end of the log. MariaDB's GTID positions include transactions that are
// not committed yet. Binlog_snapshot_position doesn't, except for XA COMMIT, which InnoDB executes after that position has advanced.
type mariaDBShows struct {
	conn       *link.Conn
	end        Mark
	passed     bool            // Binlog_snapshot_position is at the end
	committing map[string]bool // IDs of the XA COMMIT statements that ran when the position was first there and may still run
}

func (m *mariaDBShows) check(ctx context.Context) (bool, error) {
	if !m.passed {
		at, err := snapshotMark(ctx, m.conn)
		if err != nil {
			return false, err
		}
		if m.passed, err = at.Reaches(m.end); err != nil || !m.passed {
			return false, err
		}
	}
	running, err := committingBranches(ctx, m.conn)
	if err != nil {
		return false, err
	}
	if m.committing == nil {
		m.committing = running
	}
	for id := range m.committing {
		if !running[id] {
			delete(m.committing, id)
		}
	}
	return len(m.committing) == 0, nil
}

// snapshotMark returns a mark before which a MariaDB has committed everything, except for XA COMMIT.
func snapshotMark(ctx context.Context, c *link.Conn) (Mark, error) {
	rows, err := c.Query(ctx, "SHOW STATUS WHERE Variable_name IN ('Binlog_snapshot_file', 'Binlog_snapshot_position')")
	if err != nil {
		return Mark{}, fmt.Errorf("read how far the server has committed its log: %w", err)
	}
	var m Mark
	for _, r := range rows {
		if strings.HasSuffix(string(r[0]), "file") {
			m.file = string(r[1])
		} else if m.at, err = strconv.ParseUint(string(r[1]), 10, 64); err != nil {
			return Mark{}, err
		}
	}
	if m.file == "" {
		return Mark{}, errors.New("read how far the server has committed its log: it has no Binlog_snapshot_file")
	}
	return m, nil
}

// committingBranches returns the IDs of the XA COMMIT statements that run at a MariaDB.
func committingBranches(ctx context.Context, c *link.Conn) (map[string]bool, error) {
	rows, err := c.Query(ctx, `SELECT QUERY_ID FROM information_schema.PROCESSLIST WHERE INFO REGEXP '^(\\s|/\\*.*\\*/)*XA\\s+COMMIT'`)
	if err != nil {
		return nil, fmt.Errorf("read which branches the server is committing: %w", err)
	}
	running := map[string]bool{}
	for _, r := range rows {
		running[string(r[0])] = true
	}
	return running, nil
}
