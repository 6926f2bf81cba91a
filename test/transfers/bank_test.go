package transfers

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locus/internal/test/process"
	"locus/internal/test/servers"
	"locus/router/cluster"
)

const (
	accounts = 60
	balance  = 1000
	schema   = "bank"
)

// bank is three shards with accounts and a journal, and places for three proxies.
type bank struct {
	servers   []*servers.Server
	proxies   [3]*process.Process
	documents map[string][]byte
	log       *os.File
	dir       string // what all proxies prove themselves by
}

func open(t *testing.T, engine servers.Engine) *bank {
	t.Helper()
	// Locks are waited for across shards, where no server sees a deadlock.
	b := &bank{servers: servers.Start(t, engine, 3, "--innodb-lock-wait-timeout=2"), dir: t.TempDir()}
	for _, s := range b.servers {
		s.Exec(t, "CREATE DATABASE "+schema,
			"CREATE TABLE bank.account (uid BIGINT NOT NULL PRIMARY KEY, balance BIGINT NOT NULL, gene SMALLINT UNSIGNED NOT NULL, KEY (gene))",
			"CREATE TABLE bank.journal (transfer BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, peer BIGINT NOT NULL, amount BIGINT NOT NULL, gene SMALLINT UNSIGNED NOT NULL, KEY (gene))")
	}
	b.declare(t)
	var err error
	path := filepath.Join(t.TempDir(), "proxies.log")
	if b.log, err = os.Create(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = b.log.Close()
		if text, err := os.ReadFile(path); err == nil && t.Failed() {
			t.Logf("what the proxies said:\n%s", text[max(0, len(text)-20_000):])
		}
	})
	for i := range b.proxies {
		b.proxies[i] = &process.Process{Name: fmt.Sprintf("proxy %d", i), Variable: childVariable, Log: b.log}
	}
	return b
}

func (b *bank) declare(t *testing.T) {
	t.Helper()
	var text strings.Builder
	text.WriteString("schema: 1\nshards:\n")
	for i, s := range b.servers {
		fmt.Fprintf(&text, "  s%d: {address: %q, user: %s, secret: shard}\n", i, s.Addr(), s.User)
	}
	text.WriteString(`tables:
  bank.account: {kind: sharded, owner: uid, gene: gene}
  bank.journal: {kind: sharded, owner: uid, gene: gene}
users:
  app: {secret: app}
routes: |
  0x5554 s0
  0xaaa9 s1
  0xffff s2
`)
	declared, err := cluster.Parse([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	b.documents = cluster.Encode(declared)
}

// fill opens the accounts, in one statement over all shards.
func (b *bank) fill(t *testing.T, db *sql.DB) {
	t.Helper()
	rows := make([]string, accounts)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, %d)", i, balance)
	}
	if _, err := db.Exec("INSERT INTO account (uid, balance) VALUES " + strings.Join(rows, ", ")); err != nil {
		t.Fatal(err)
	}
}

// all runs a query on every shard and gives each row to f.
func (b *bank) all(t *testing.T, query string, f func(*sql.Rows) error) {
	t.Helper()
	for _, s := range b.servers {
		rows, err := s.DB(t, schema).Query(query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			if err := f(rows); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// start runs a proxy that stops at a point, once it has come there so often.
func (b *bank) start(t *testing.T, p *process.Process, point string, hits int64) {
	t.Helper()
	p.Start(t, child{Documents: b.documents, Password: b.servers[0].Password, Dir: b.dir, Stop: point, Hits: hits})
}
