//go:build long

package dump

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/router/catalog"
	"locus/test/shop"
	"locus/test/suites/stand"
)

// mydumper reads with several connections, on all shards, the state of one moment, while clients write.
// myloader restores it over the existing rows, and into shards without tables. Only mydumper knows that moment.
// But clients only insert rows, each with its writer and the number of its transaction. So the restored rows
// are of one moment if, for each writer, they contain all rows of the first transactions and none of the later
// ones. Each row must be unchanged in all columns, and on its shard.
func TestMydumper(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{
			Spanning: txn.XA, User: ", admin: true",
			Tables: []string{
				"CREATE TABLE {schema}.visit (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, owner BIGINT NOT NULL, note VARCHAR(20), KEY (owner), " + catalog.OwnGeneDefinition + ") DEFAULT CHARSET utf8mb4",
			},
			Declarations: "  {schema}.visit: {kind: sharded, owner: owner}\n",
		})
		first := single(t, s)
		for buyer := range 40 {
			run(t, first, order(buyer, "first"), fmt.Sprintf("INSERT INTO visit (owner, note) VALUES (%d, 'ü ''q'' \\\\'), (%d, NULL)", buyer, buyer+1))
		}
		run(t, first, "INSERT INTO product VALUES (1, 'tea', 1.5), (2, 'cup', 3)", "INSERT INTO setting VALUES ('a', 'b')", "INSERT INTO counted (note) VALUES ('x')")
		ctx, stop := context.WithCancel(t.Context())
		var writers, begun sync.WaitGroup
		for writer := range atOnce {
			conn := single(t, s)
			begun.Add(1)
			writes := sync.OnceFunc(begun.Done)
			writers.Go(func() {
				defer writes()
				for n := 0; ctx.Err() == nil; n++ {
					by := fmt.Sprintf("w%d.%d", writer, n)
					for _, text := range []string{"BEGIN", order(n%40, by), order((n+writer+1)%40, by), order((n+5)%40, by), "COMMIT"} {
						if _, err := conn.ExecContext(context.WithoutCancel(ctx), text); err != nil {
							t.Errorf("%s: %v", text, err)
							return
						}
					}
					writes()
				}
			})
		}
		begun.Wait()
		taken := t.TempDir()
		program(t, s, "mydumper", "-B", s.Schema, "-o", taken, "-t", "4", "-r", "10")
		stop()
		writers.Wait()
		was, unchanged, sums := written(t, s, engine), fixed(t, s), checksums(t, first)
		var restored []map[string]string
		for _, over := range []string{"what it was taken from", "shards without tables"} {
			if over != "what it was taken from" {
				for i, server := range s.Servers {
					server.Exec(t, "DROP TABLE "+s.Schema+".test_order", "DROP TABLE "+s.Schema+".order_item", "DROP TABLE "+s.Schema+".product", "DROP TABLE "+s.Schema+".visit")
					if i == 0 {
						server.Exec(t, "DROP TABLE "+s.Schema+".setting", "DROP TABLE "+s.Schema+".counted")
					}
				}
			}
			program(t, s, "myloader", "-B", s.Schema, "-d", taken, "-t", "4", "-o")
			if now := fixed(t, s); now != unchanged {
				t.Errorf("over %s: the shards had\n%s\nand have\n%s", over, unchanged, now)
			}
			if now := checksums(t, first); now != sums {
				t.Errorf("over %s: the checksums were %s and are %s", over, sums, now)
			}
			now := written(t, s, engine)
			ofOneMoment(t, over, now, was)
			if restored != nil && !reflect.DeepEqual(now, restored) {
				t.Errorf("over %s: other orders came back than before", over)
			}
			restored = now
		}
		run(t, first, "INSERT INTO visit (owner, note) VALUES (7, 'new')")
		if n := count(t, first, "SELECT MAX(id) FROM visit"); n != 81 {
			t.Errorf("the next number is %d, want 81", n)
		}
	})
}

func program(t *testing.T, s *shop.Shop, name string, args ...string) {
	t.Helper()
	host, port, _ := strings.Cut(s.Addr, ":")
	c := stand.Command{
		Dir: t.TempDir(), Limit: 5 * time.Minute,
		Args: append([]string{"sh", "-c", `"$@"; echo "exit status $?"`, "sh", name, "-h", host, "-P", port, "-u", shop.User, "-p", shop.Password, "-v", "3"}, args...),
	}
	out := string(c.Output(t))
	t.Logf("%s", out)
	if !strings.HasSuffix(strings.TrimSpace(out), "exit status 0") || strings.Contains(out, "CRITICAL") || strings.Contains(out, "locus-") {
		t.Errorf("%s %s:\n%s", name, strings.Join(args, " "), out)
	}
}

// atOnce is the number of concurrent writers.
const atOnce = 4

func order(buyer int, by string) string {
	return fmt.Sprintf("INSERT INTO test_order (buyer_uid, amount, status) VALUES (%d, %d.25, '%s')", buyer, buyer, by)
}

// written returns the orders of each shard, with all columns by their IDs. This version of mydumper mistakes
// MySQL's columns whose default is the current time for generated ones, and leaves them out. It does so without
// the proxy, too.
func written(t *testing.T, s *shop.Shop, engine servers.Engine) (shards []map[string]string) {
	t.Helper()
	columns := "order_no, buyer_uid, amount, version"
	if engine == servers.MariaDB {
		columns += ", REPLACE(created_at, ' ', 'T')"
	}
	for i := range s.Servers {
		orders := map[string]string{}
		for _, row := range strings.Fields(rowsOf(t, s.Shard(t, i), "SELECT CONCAT_WS('|', order_id, status, "+columns+") AS r FROM test_order")) {
			id, rest, _ := strings.Cut(row, "|")
			orders[id] = rest
		}
		shards = append(shards, orders)
	}
	return shards
}

// ofOneMoment compares the restored rows with those at the end.
func ofOneMoment(t *testing.T, over string, now, was []map[string]string) {
	t.Helper()
	seen := map[string]int{} // rows of each writer's transactions
	for i := range now {
		for id, row := range now[i] {
			if was[i][id] != row {
				t.Errorf("over %s: order %s of s%d is %q, and was %q", over, id, i, row, was[i][id])
			}
			by, _, _ := strings.Cut(row, "|")
			seen[by]++
		}
	}
	if seen["first"] != 40 {
		t.Errorf("over %s: there are %d of the 40 first orders", over, seen["first"])
	}
	delete(seen, "first")
	for writer := range atOnce {
		if seen[fmt.Sprintf("w%d.0", writer)] == 0 {
			t.Errorf("over %s: nothing came back that writer %d wrote before", over, writer)
		}
		for n := 0; seen[fmt.Sprintf("w%d.%d", writer, n)] == 3; n++ {
			delete(seen, fmt.Sprintf("w%d.%d", writer, n))
		}
	}
	if len(seen) > 0 {
		t.Errorf("over %s: rows of transactions came back without others of them, or of those before: %v", over, seen)
	}
}

// fixed returns the rows, by shard, of the tables that no client writes to.
func fixed(t *testing.T, s *shop.Shop) string {
	t.Helper()
	var b strings.Builder
	for i := range s.Servers {
		for _, part := range []string{"id, owner, locus_gene, note) FROM visit", "product_id, name, price) FROM product"} {
			fmt.Fprintf(&b, "s%d: %s\n%s", i, part, rowsOf(t, s.Shard(t, i), "SELECT CONCAT_WS('|', "+part+" ORDER BY 1"))
		}
	}
	return b.String()
}

// checksums returns the checksums of the tables that no client writes to.
func checksums(t *testing.T, conn *sql.Conn) string {
	t.Helper()
	var list []string
	for _, table := range []string{"product", "setting", "counted"} {
		var name, sum string
		if err := conn.QueryRowContext(t.Context(), "CHECKSUM TABLE "+table).Scan(&name, &sum); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		list = append(list, table+" "+sum)
	}
	return strings.Join(list, ", ")
}
