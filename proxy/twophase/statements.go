package twophase

import (
	"fmt"
	"strings"
	"time"

	"locus/router"
)

// The decision table exists on every shard. A row with committed = 1 is the decision of a transaction whose home is
// that shard. A row with committed = 0 makes that decision impossible. The column confirmed exists to be updated; see
// [confirm].
const (
	createSchema = "CREATE SCHEMA IF NOT EXISTS locus"
	createTable  = "CREATE TABLE IF NOT EXISTS locus.decision (" +
		"txn VARBINARY(64) NOT NULL PRIMARY KEY, " +
		"committed TINYINT NOT NULL, " +
		"confirmed INT UNSIGNED NOT NULL DEFAULT 0, " +
		"shards MEDIUMBLOB NOT NULL, " +
		"decided_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP" +
		") ENGINE=InnoDB"
)

// decideWithin is how long after the start of a commit its decision can still be inserted, by the home server's clock
// compared with the proxy's. tombstoneKept is how long a row that forbids a decision is kept. The difference between
// the two is the tolerance for clock skew between a proxy and a server.
const (
	decideWithin  = time.Hour
	tombstoneKept = 7 * 24 * time.Hour
)

// decide inserts the decision. It inserts no row if it is too late. SYSDATE() is the real time even if the session has
// set another.
func decide(n Name, branches []router.ShardName, now time.Time) string {
	names := make([]string, len(branches))
	for i, b := range branches {
		names[i] = string(b)
	}
	return fmt.Sprintf("INSERT INTO locus.decision (txn, committed, shards) SELECT '%s', 1, '%s' FROM DUAL WHERE UNIX_TIMESTAMP(SYSDATE()) < %d",
		n.Transaction, strings.Join(names, ","), now.Add(decideWithin).Unix())
}

// confirm updates the row of a decision to commit, if it exists. A server without a binary log makes a commit visible
// before it is on disk. The commit of this update follows it in the same redo log. So once confirm returns, both are on
// disk.
func confirm(transaction string) string {
	return fmt.Sprintf("UPDATE locus.decision SET confirmed = confirmed + 1 WHERE txn = '%s' AND committed = 1", transaction)
}

// forbid inserts the row that makes a decision to commit impossible.
func forbid(transaction string) string {
	return fmt.Sprintf("INSERT INTO locus.decision (txn, committed, shards) VALUES ('%s', 0, '')", transaction)
}

func look(transaction string) string {
	return fmt.Sprintf("SELECT committed FROM locus.decision WHERE txn = '%s'", transaction)
}

// forget deletes rows by primary key, so that it locks no others.
func forget(transactions []string) string {
	return "DELETE FROM locus.decision WHERE txn IN ('" + strings.Join(transactions, "','") + "')"
}

// mostListed bounds the rows read or removed at once.
const mostListed = 1000

// list returns a cluster's old rows. age is the minimum age of decisions.
func list(cluster string, age time.Duration) string {
	return fmt.Sprintf("SELECT txn, committed, shards FROM locus.decision WHERE txn LIKE '%s%%' AND "+
		"decided_at < NOW() - INTERVAL IF(committed = 1, %d, %d) SECOND LIMIT %d",
		cluster, int(age.Seconds()), int(tombstoneKept.Seconds()), mostListed)
}
