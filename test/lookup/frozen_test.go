//go:build servers

package lookup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/test/cluster"
	"locus/test/product"
)

// While the server of a shard is unresponsive, statements whose entries or rows it has fail with the shard's name. They don't wait without an end,
// and the other statements go on. Afterwards every row has its entry.
func TestAFrozenShard(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := cluster.Start(t, engine, cluster.Options{Shards: 2, UserFields: ", admin: true, scatter_writes: allow"})
		c.Serve("one")
		db := cluster.Open(cluster.Config(c.Serve("two").Addr))
		defer db.Close()
		must(t, db, users+declares, entries, "CALL locus.fill_lookup('shop.users_by_email')")
		const rows = 6
		for id := range rows {
			must(t, db, fmt.Sprintf("INSERT INTO users VALUES (%d, 'user%d', '')", id, id))
		}
		run := func(text string) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := db.ExecContext(ctx, text)
			if e := new(mysql.MySQLError); err != nil && (!errors.As(err, &e) || e.Number != 1158) {
				t.Errorf("%s: %v", text, err)
			}
			return err
		}
		c.Shards[1].Stop()
		served, failed := 0, 0
		for id := range rows {
			for _, text := range []string{
				fmt.Sprintf("SELECT * FROM users WHERE email = 'user%d'", id),
				fmt.Sprintf("UPDATE users SET email = 'next%d' WHERE id = %d", id, id),
				fmt.Sprintf("INSERT INTO users VALUES (%d, 'more%d', '')", 100+id, id),
			} {
				if run(text) == nil {
					served++
				} else {
					failed++
				}
			}
		}
		if served == 0 || failed == 0 {
			t.Errorf("%d statements were served, and %d failed", served, failed)
		}
		c.Shards[1].Continue()
		product.Eventually(t, "all shards serve", func() bool { _, err := db.Exec("UPDATE users SET name = 'x' WHERE id >= 0"); return err == nil })
		product.Eventually(t, "no branch is prepared", func() bool {
			branches := 0
			c.All(t, "XA RECOVER", func(int, *sql.Rows) error { branches++; return nil })
			return branches == 0
		})
		checkEntries(t, onAll(t, c))
	})
}
