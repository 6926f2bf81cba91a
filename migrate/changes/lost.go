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

// LostError is a server that never had what was read of its shard before: its predecessor as the primary had told
// it to nobody else when it was lost, or the server was set back.
type LostError struct {
	Server  string
	Missing string // in words: what was read, and what it has
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s lacks transactions that were read from its shard before: %s", e.Server, e.Missing)
}

// Lost names the transactions before a position that a server does not have; empty: it has all. Those that it is
// about to count are waited for.
func Lost(ctx context.Context, c *link.Conn, p Position) (string, error) {
	seen, err := parseSet(p.flavor, p.seen)
	if err == nil && p.of != "" {
		err = seen.Update(p.of)
	}
	if err != nil {
		return "", err
	}
	return lost(ctx, c, seen)
}

const (
	// lostLooks is how often a server is asked that seems to lack some: MySQL has a transaction in its log a moment
	// before it counts it.
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

// lacksOfMariaDB looks at the last number of each domain and origin: another server may have given a number of its own to what
// it has in place of a lost transaction.
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

// waitsForReplicas tells whether all that a server lacks is its own, and commits of its own wait for semi-synchronous replicas:
// its log has them already.
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
