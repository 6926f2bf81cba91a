//go:build long

package newshard

import (
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/test/product"
)

// TestAShardBesideAnOpenTransaction: writers don't wait for a transaction that stays open, and rows are equal once it has ended.
func TestAShardBesideAnOpenTransaction(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := open(t, engine)
		db := c.db()
		c.fill(db)
		before, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := before.Exec("INSERT INTO country (code, price) VALUES (50, 1)"); err != nil {
			t.Fatal(err)
		}
		c.declare(3)
		applied := make(chan string, 1)
		go func() {
			out, err := c.Locus("apply", "-f", c.Path("cluster.yaml"))
			applied <- fmt.Sprintf("%s%v", out, err)
		}()
		product.Eventually(t, "the shard is declared", func() bool {
			out, err := c.Locus("shard", "list")
			return err == nil && strings.Contains(out, "s2")
		})
		if _, err := db.Exec("INSERT INTO country (code, price) VALUES (51, 1)"); err != nil { // this statement waits as long as the lock is held
			t.Error(err)
		}
		if err := before.Commit(); err != nil {
			t.Error(err)
		}
		if out := <-applied; !strings.Contains(out, "shard s2 has the global tables' rows") {
			t.Errorf("apply: %s", out)
		}
		c.alike()
		// A client changes rows without a proxy.
		c.servers[2].Exec(t, "DELETE FROM shop.country WHERE code = 51", "INSERT INTO shop.country (code) VALUES (52)", "UPDATE shop.country SET name = 'x' WHERE code = 1", "DROP VIEW shop.aim")
		out, err := c.Locus("split", "--from", "s0", "--to", "s2", "--half")
		if err == nil || !strings.Contains(out, "global table shop.country has other rows") || !strings.Contains(out, "does not have view shop.aim") {
			t.Errorf("a move to a shard that lacks rows: %s, %v", out, err)
		}
		c.MustLocus("shard", "fill", "s2", "--yes")
		c.alike()
		c.MustLocus("split", "--from", "s0", "--to", "s2", "--half", "--dry-run")
	})
}
