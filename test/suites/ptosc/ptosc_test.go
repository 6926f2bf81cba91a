//go:build long

package ptosc

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/router/catalog"
	"locus/test/shop"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

const (
	owners = 64
	first  = 4096 // rows
)

const columns = "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, owner BIGINT NOT NULL, note VARCHAR(20), KEY (owner)"

// ways are how the table is declared: by a file, or by its comment.
var ways = map[string]func(*testing.T, servers.Engine) (*shop.Shop, *sql.DB){
	"file": start,
	"comment": func(t *testing.T, engine servers.Engine) (*shop.Shop, *sql.DB) {
		t.Helper()
		s := shop.Start(t, engine, shop.Options{Spanning: txn.XA})
		db := s.DB(t, nil)
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE visit ("+columns+") DEFAULT CHARSET utf8mb4 COMMENT 'locus: owner=owner'"); err != nil {
			t.Fatal(err)
		}
		fill(t, db)
		return s, db
	},
}

func start(t *testing.T, engine servers.Engine) (*shop.Shop, *sql.DB) {
	t.Helper()
	s := shop.Start(t, engine, shop.Options{
		Spanning:     txn.XA,
		Tables:       []string{"CREATE TABLE {schema}.visit (" + columns + ", " + catalog.OwnGeneDefinition + ") DEFAULT CHARSET utf8mb4"},
		Declarations: "  {schema}.visit: {kind: sharded, owner: owner}\n",
	})
	db := s.DB(t, nil)
	fill(t, db)
	return s, db
}

func fill(t *testing.T, db *sql.DB) {
	t.Helper()
	for from := 0; from < first; from += 256 {
		rows := make([]string, 256)
		for i := range rows {
			rows[i] = fmt.Sprintf("(%d, 'n%d')", (from+i)%owners, from+i)
		}
		if _, err := db.ExecContext(t.Context(), "INSERT INTO visit (owner, note) VALUES "+strings.Join(rows, ", ")); err != nil {
			t.Fatal(err)
		}
	}
}

// change runs the tool, and reports whether it succeeded.
func change(t *testing.T, addr, user, password, schema, table string) (done bool, said string) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	c := stand.Command{
		Dir: t.TempDir(), Limit: 5 * time.Minute,
		Args: []string{
			"sh", "-c", `"$@"; echo "exit status $?"`, "sh", "pt-online-schema-change", "--alter", "ADD COLUMN weight INT NOT NULL DEFAULT 7", "--execute", "--no-version-check",
			"--recursion-method", "none", "--chunk-size", "200", "--max-load", "", "--critical-load", "", fmt.Sprintf("h=%s,P=%s,u=%s,p=%s,D=%s,t=%s", host, port, user, password, schema, table),
		},
	}
	said = string(c.Output(t))
	return strings.HasSuffix(strings.TrimSpace(said), "exit status 0"), said
}

func ask(t *testing.T, db *sql.DB, query string) (said string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&said); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return said
}

// Shards that are changed one by one don't stop the table: statements are planned over the columns that all have.
func TestShardByShard(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s, db := start(t, engine)
		ctx, stop := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		var deadlocks atomic.Int64
		made := make([]int, 8)
		for client := range made {
			clients.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					owner := (client*7 + n) % owners
					for _, text := range []string{
						fmt.Sprintf("INSERT INTO visit (owner, note) VALUES (%d, 'client %d')", owner, client),
						fmt.Sprintf("UPDATE visit SET note = 'seen' WHERE owner = %d AND note = 'client %d'", owner, client),
						fmt.Sprintf("SELECT * FROM visit WHERE owner = %d ORDER BY id LIMIT 5", owner),
						"SELECT COUNT(*) FROM visit",
					} {
						if err := repeated(context.WithoutCancel(ctx), db, text, &deadlocks); err != nil {
							t.Errorf("%s: %v", text, err)
							return
						}
					}
					made[client]++
				}
			})
		}
		for i, server := range s.Servers {
			if done, said := change(t, server.Addr(), server.User, server.Password, s.Schema, "visit"); !done {
				t.Errorf("s%d: %s", i, said)
			}
		}
		stop()
		clients.Wait()
		rows := first
		for _, n := range made {
			rows += n
		}
		t.Logf("%d rows were made meanwhile, with %d deadlocks", rows-first, deadlocks.Load())
		if err := s.Proxy.RereadNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if said := ask(t, db, "SELECT CONCAT_WS(' ', COUNT(*), COUNT(DISTINCT id), SUM(weight)) FROM visit"); said != fmt.Sprint(rows, rows, 7*rows) {
			t.Errorf("rows, numbers and weights are %s, want %d rows", said, rows)
		}
		for i := range s.Servers {
			if left := ask(t, s.Shard(t, i), "SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()"); left != "0" {
				t.Errorf("s%d has %s triggers", i, left)
			}
		}
	})
}

// repeated runs a statement, again where a server had it wait for the tool's own and the tool's for it, as on one server.
func repeated(ctx context.Context, db *sql.DB, text string, deadlocks *atomic.Int64) error {
	for {
		_, err := db.ExecContext(ctx, text)
		if refused := new(mysql.MySQLError); !errors.As(err, &refused) || refused.Number != 1213 {
			return err
		}
		deadlocks.Add(1)
	}
}

// The proxy refuses the tool, because the tool would copy rows by triggers of which moves would not know. The first trigger is
// refused, so nothing is created or declared at any time, and the table is unchanged.
func TestThroughTheProxy(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for way, start := range ways {
			t.Run(way, func(t *testing.T) {
				s, db := start(t, engine)
				was := s.Declared()
				logged(t, s)
				done, said := change(t, s.Addr, shop.User, shop.Password, s.Schema, "visit")
				t.Logf("%s", said)
				if done {
					t.Error("it was done")
				}
				for _, says := range []string{"locus-1003", "nothing was made", "each shard"} {
					if !strings.Contains(said, says) {
						t.Errorf("the refusal doesn't say %q", says)
					}
				}
				if n := ask(t, db, "SELECT COUNT(*) FROM visit"); n != fmt.Sprint(first) {
					t.Errorf("there are %s rows, want %d", n, first)
				}
				if now := s.Declared(); !reflect.DeepEqual(now, was) {
					t.Errorf("declared were %v, and are %v", was, now)
				}
				for i, server := range s.Servers {
					log := server.DB(t, "mysql")
					if seen := ask(t, log, "SELECT COUNT(*) FROM general_log WHERE argument LIKE '%FROM visit%' AND argument NOT LIKE '%general_log%'"); seen == "0" {
						t.Errorf("s%d has logged nothing", i)
					}
					if made := ask(t, log, "SELECT COUNT(*) FROM general_log WHERE argument LIKE '%\\_visit\\_%' AND argument REGEXP '^[[:space:]]*(CREATE|ALTER|DROP|RENAME|INSERT)'"); made != "0" {
						t.Errorf("s%d was sent %s statements that make something", i, made)
					}
					if left := ask(t, s.Shard(t, i), "SELECT GROUP_CONCAT(TABLE_NAME ORDER BY 1) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE '%visit%'"); left != "visit" {
						t.Errorf("s%d has %s", i, left)
					}
				}
			})
		}
	})
}

// logged makes the shards log the statements that they receive from now on.
func logged(t *testing.T, s *shop.Shop) {
	t.Helper()
	for _, server := range s.Servers {
		server.Exec(t, "SET GLOBAL log_output = 'TABLE'", "TRUNCATE mysql.general_log", "SET GLOBAL general_log = 1")
		t.Cleanup(func() {
			if err := server.Execute(context.WithoutCancel(t.Context()), "SET GLOBAL general_log = 0"); err != nil {
				t.Error(err)
			}
		})
	}
}
