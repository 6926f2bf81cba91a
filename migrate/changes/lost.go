package changes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/google/uuid"

	"locus/migrate/link"
)

// LostError means that a server never had some of the changes read from its shard. Its predecessor as primary had not
// replicated them when it was lost, or the server was set back to an earlier state.
type LostError struct {
	Server  string
	Missing string // the GTIDs that were read and the GTIDs of the server, as text
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s lacks transactions that were read from its shard before: %s", e.Server, e.Missing)
}

// Lost names the transactions before a position that a server doesn't have, or returns "" if it has all. It waits for those
// that the server is about to count.
func Lost(ctx context.Context, c *link.Conn, p Position) (string, error) {
	seen, err := p.begun()
	if err != nil {
		return "", err
	}
	return lost(ctx, c, seen)
}

const (
	// lostLooks is the number of checks of a server that seems to lack transactions. MySQL has a transaction in
	// its log a moment before it counts it.
	lostLooks = 3
	lostPause = 300 * time.Millisecond
)

func lost(ctx context.Context, c *link.Conn, seen mysql.GTIDSet) (string, error) {
	lacks := lacksOfMySQL
	if c.Version().Flavor == link.MariaDB {
		lacks = lacksOfMariaDB
	}
	for look := 1; ; look++ {
		missing, err := lacks(ctx, c, seen)
		if err != nil || missing == "" || look == lostLooks {
			return missing, err
		}
		if err := rest(ctx, lostPause); err != nil {
			return "", err
		}
	}
}

func valueOn(ctx context.Context, c *link.Conn, value string) (string, error) {
	rows, err := c.Query(ctx, "SELECT "+value)
	if err != nil {
		return "", fmt.Errorf("read which transactions the server has: %w", err)
	}
	return strings.ReplaceAll(string(rows[0][0]), "\n", ""), nil
}

func lacksOfMySQL(ctx context.Context, c *link.Conn, seen mysql.GTIDSet) (string, error) {
	text, err := valueOn(ctx, c, "@@GLOBAL.gtid_executed")
	if err != nil {
		return "", err
	}
	executed, err := parseSet(link.MySQL, text)
	if err != nil || contains(executed, seen) {
		return "", err
	}
	waits, err := waitsForReplicas(ctx, c, executed, seen)
	if err == nil && waits {
		err = fmt.Errorf("transactions that were read from its log wait for replicas, and are not committed: of %s it has %s", seen, text)
	}
	return fmt.Sprintf("of %s it has %s", seen, text), err
}

// lacksOfMariaDB checks the last number of each domain and origin. Another server may have assigned the number of a lost
// transaction to one of its own.
func lacksOfMariaDB(ctx context.Context, c *link.Conn, seen mysql.GTIDSet) (string, error) {
	state, err := valueOn(ctx, c, "@@GLOBAL.gtid_binlog_state")
	if err != nil {
		return "", err
	}
	last := map[[2]uint32]uint64{}
	for one := range strings.SplitSeq(state, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		g, err := mysql.ParseMariadbGTID(one)
		if err != nil {
			return "", err
		}
		last[[2]uint32{g.DomainID, g.ServerID}] = g.SequenceNumber
	}
	for _, g := range seen.(*mysql.MariadbGTIDSet).Sets {
		if last[[2]uint32{g.DomainID, g.ServerID}] < g.SequenceNumber {
			return fmt.Sprintf("of %s it has %s", seen, state), nil
		}
	}
	return "", nil
}

// waitsForReplicas reports whether everything that a server lacks is its own, and its commits wait for semi-synchronous
// replicas. Its log then has them already.
func waitsForReplicas(ctx context.Context, c *link.Conn, executed, seen mysql.GTIDSet) (bool, error) {
	id, err := serverID(ctx, c)
	if err != nil {
		return false, err
	}
	own, err := uuid.Parse(id)
	if err != nil {
		return false, err
	}
	others := seen.Clone().(*mysql.MysqlGTIDSet)
	delete(*others, own)
	if !contains(executed, others) {
		return false, nil
	}
	rows, err := c.Query(ctx, "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Rpl_semi_sync_%_wait_sessions' AND Value > 0")
	if err != nil {
		return false, fmt.Errorf("read whether commits wait for replicas: %w", err)
	}
	return len(rows) > 0, nil
}
