package twophase

import (
	"fmt"
	"strings"
	"time"

	"locus/router"
)

// The table of decisions, on every shard. A row with committed = 1 is the
// decision of the transaction whose home the shard is; one with 0 makes that
// decision impossible. confirmed exists to be changed: see [confirm].
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

// decideWithin bounds, by the home server's clock against the proxy's, how long
// after the beginning of a commit its decision can still be inserted. tombstoneKept is
// how long a row that forbids it stays. Between the two the clocks of a proxy and
// a server may differ.
const (
	decideWithin  = time.Hour
	tombstoneKept = 7 * 24 * time.Hour
)

// decide inserts the decision. No row is inserted once it is too late. SYSDATE()
// is the time even where the session has another.
func decide(n Name, branches []router.ShardName, now time.Time) string {
	names := make([]string, len(branches))
	for i, b := range branches {
		names[i] = string(b)
	}
	return fmt.Sprintf("INSERT INTO locus.decision (txn, committed, shards) SELECT '%s', 1, '%s' FROM DUAL WHERE UNIX_TIMESTAMP(SYSDATE()) < %d",
		n.Transaction, strings.Join(names, ","), now.Add(decideWithin).Unix())
}

// confirm changes the row of a decision to commit, if it is there. A server
// without a binary log shows a commit before it is on the disk; the one of this
// change, which comes after it in the same log, is on the disk when confirm has
// returned, and with it the decision.
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

// forget removes rows by their keys, so that it locks nothing else.
func forget(transactions []string) string {
	return "DELETE FROM locus.decision WHERE txn IN ('" + strings.Join(transactions, "','") + "')"
}

// mostListed bounds what is read, and removed, at once.
const mostListed = 1000

// list gives old rows of one cluster: with age as the least of decisions.
func list(cluster string, age time.Duration) string {
	return fmt.Sprintf("SELECT txn, committed, shards FROM locus.decision WHERE txn LIKE '%s%%' AND "+
		"decided_at < NOW() - INTERVAL IF(committed = 1, %d, %d) SECOND LIMIT %d",
		cluster, int(age.Seconds()), int(tombstoneKept.Seconds()), mostListed)
}
