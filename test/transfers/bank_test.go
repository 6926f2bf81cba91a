package transfers

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/test/cluster"
)

const (
	accounts = 60
	balance  = 1000
)

// bank is a cluster of three shards with accounts and a journal.
type bank struct{ *cluster.Cluster }

func open(t *testing.T, engine servers.Engine) bank {
	t.Helper()
	return bank{cluster.Start(t, engine, cluster.Options{
		Shards: 3,
		SQL: []string{
			"CREATE TABLE account (uid BIGINT NOT NULL PRIMARY KEY, balance BIGINT NOT NULL, gene SMALLINT UNSIGNED NOT NULL, KEY (gene))",
			"CREATE TABLE journal (transfer BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, peer BIGINT NOT NULL, amount BIGINT NOT NULL, gene SMALLINT UNSIGNED NOT NULL, KEY (gene))",
		},
		Tables: `  shop.account: {kind: sharded, owner: uid, gene: gene}
  shop.journal: {kind: sharded, owner: uid, gene: gene}
`,
		// Transactions wait for locks across shards, where no server detects a deadlock.
		ServerArgs: []string{"--innodb-lock-wait-timeout=2"},
	})}
}

// fill opens the accounts, in one statement over all shards.
func (b bank) fill(t *testing.T, db *sql.DB) {
	t.Helper()
	rows := make([]string, accounts)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, %d)", i, balance)
	}
	if _, err := db.Exec("INSERT INTO account (uid, balance) VALUES " + strings.Join(rows, ", ")); err != nil {
		t.Fatal(err)
	}
}

// all runs a query on every shard and passes each row to f.
func (b bank) all(t *testing.T, query string, f func(*sql.Rows) error) {
	t.Helper()
	b.All(t, query, func(_ int, rows *sql.Rows) error { return f(rows) })
}

// killAt kills a proxy and starts it again, and returns when the new process is at a point of its clients' fifth commit.
func killAt(p *cluster.Proxy, point string) {
	p.Kill()
	p.Start()
	p.StopAt(point + "*5")
	p.AwaitPoint(point)
}
