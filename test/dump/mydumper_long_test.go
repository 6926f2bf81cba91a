//go:build long

package dump

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/proxy/txn"
	"locus/router/catalog"
	"locus/test/servers"
	"locus/test/shop"
	"locus/test/suites/stand"
)

// mydumper reads with several connections what was there at one moment, on all shards, while clients write; myloader brings it back over
// what there is, and into shards without a table.
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
			run(t, first, visit(buyer), fmt.Sprintf("INSERT INTO visit (owner, note) VALUES (%d, 'ü ''q'' \\\\'), (%d, NULL)", buyer, buyer+1))
		}
		run(t, first, "INSERT INTO product VALUES (1, 'tea', 1.5), (2, 'cup', 3)", "INSERT INTO setting VALUES ('a', 'b')", "INSERT INTO counted (note) VALUES ('x')")
		ctx, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		for writer := range 4 {
			conn := single(t, s)
			writers.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					for _, text := range []string{"BEGIN", visit(n % 40), visit((n + writer + 1) % 40), visit((n + 5) % 40), "COMMIT"} {
						if _, err := conn.ExecContext(context.WithoutCancel(ctx), text); err != nil {
							t.Errorf("%s: %v", text, err)
							return
						}
					}
				}
			})
		}
		taken := t.TempDir()
		program(t, s, "mydumper", "-B", s.Schema, "-o", taken, "-t", "4", "-r", "10")
		stop()
		writers.Wait()
		var was string
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
			if n := count(t, first, "SELECT COUNT(*) FROM test_order"); (n-40)%3 != 0 || n < 40 {
				t.Errorf("over %s: the dump has %d orders; three come at once after the first 40", over, n)
			}
			if n := count(t, first, "SELECT COUNT(*) FROM visit"); n != 80 {
				t.Errorf("over %s: there are %d visits, want 80", over, n)
			}
			for i := range s.Servers {
				if n := count(t, shardConn(t, s, i), "SELECT COUNT(*) FROM product"); n != 2 {
					t.Errorf("over %s: s%d has %d products, want 2", over, i, n)
				}
			}
			if now := sums(t, s); was == "" {
				was = now
			} else if now != was {
				t.Errorf("over %s: the shards have %s, and had %s", over, now, was)
			}
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

// sums are of the rows of every shard, without their times: this version of mydumper takes columns of MySQL whose default is the time for
// generated ones, and leaves them out.
func sums(t *testing.T, s *shop.Shop) string {
	t.Helper()
	var list []string
	for i := range s.Servers {
		for _, rows := range []string{"order_id, order_no, buyer_uid, amount, status, version) AS r FROM test_order", "id, owner, locus_gene, note) AS r FROM visit", "product_id, name, price) AS r FROM product"} {
			conn := shardConn(t, s, i)
			list = append(list, fmt.Sprintf("s%d: %d rows, %d", i, count(t, conn, "SELECT COUNT(*) FROM (SELECT CONCAT_WS(' ', "+rows+") AS x"), count(t, conn, "SELECT COALESCE(SUM(CRC32(r)), 0) FROM (SELECT CONCAT_WS(' ', "+rows+") AS x")))
		}
	}
	return strings.Join(list, "; ")
}
