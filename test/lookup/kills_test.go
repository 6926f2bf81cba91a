//go:build servers

package lookup

import (
	"database/sql"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/test/cluster"
	"locus/test/product"
)

// Proxies and servers of shards are killed while clients change rows and load files. Afterwards every row has its entry, and every entry its row.
func TestKills(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := cluster.Start(t, engine, cluster.Options{Shards: 2, UserFields: ", admin: true, scatter_writes: allow"})
		proxies := []*cluster.Served{c.Serve("one"), c.Serve("two")}
		var dbs []*sql.DB
		for _, p := range proxies {
			db := cluster.Open(cluster.Config(p.Addr))
			defer db.Close()
			dbs = append(dbs, db)
		}
		must(t, dbs[0], users+declares, entries, "CALL locus.fill_lookup('shop.users_by_email')")
		for _, shard := range c.Shards {
			shard.Exec(t, "SET GLOBAL local_infile = 1")
		}
		var stop atomic.Bool
		var clients sync.WaitGroup
		var writes, tries, loads atomic.Int64
		for i := range 2 {
			clients.Go(func() { persist(t, dbs[i%2], uint64(i), &stop, &writes) })
		}
		clients.Go(func() { load(t, dbs, &stop, &tries, &loads) })
		busy := func() {
			w, l := writes.Load(), tries.Load()
			product.Eventually(t, "clients write and load", func() bool { return writes.Load() > w+10 && tries.Load() > l+1 })
		}
		for round := range scale.Of(2, 12) {
			busy()
			restart(t, proxies[round%2])
			busy()
			c.Shards[round%2].Kill()
			c.Shards[round%2].Start()
			c.Shards[round%2].Exec(t, "SET GLOBAL local_infile = 1")
		}
		busy()
		stop.Store(true)
		clients.Wait()
		product.Eventually(t, "no branch is prepared", func() bool {
			branches := 0
			c.All(t, "XA RECOVER", func(int, *sql.Rows) error { branches++; return nil })
			return branches == 0
		})
		checkEntries(t, onAll(t, c))
		if loads.Load() == 0 {
			t.Errorf("none of %d files was loaded", tries.Load())
		}
		t.Logf("%d statements and %d of %d files succeeded", writes.Load(), loads.Load(), tries.Load())
	})
}

// load loads files, and goes on after every error.
func load(t *testing.T, dbs []*sql.DB, stop *atomic.Bool, tries, loads *atomic.Int64) {
	for n := 0; !stop.Load(); n++ {
		var lines strings.Builder
		for i := range 20 {
			fmt.Fprintf(&lines, "%d\t%s\t%c\n", 100+(i*7+n)%30, []string{"Ann@x", "ann@X", `\N`, fmt.Sprint("load", (i+n)%25), "ö@x"}[i%5], 'a'+i%4)
		}
		name := fmt.Sprint("kills", n)
		mysql.RegisterReaderHandler(name, func() io.Reader { return strings.NewReader(lines.String()) })
		how := []string{"IGNORE", "REPLACE"}[n%2]
		if loadOnce(t, dbs[n%2], "LOAD DATA LOCAL INFILE 'Reader::"+name+"' "+how+" INTO TABLE users CHARACTER SET utf8mb4") == nil {
			loads.Add(1)
		}
		tries.Add(1)
		mysql.DeregisterReaderHandler(name)
	}
}

// loadOnce waits for locks for a second, since no server detects a deadlock over two shards.
func loadOnce(t *testing.T, db *sql.DB, text string) error {
	c, err := db.Conn(t.Context())
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(t.Context(), "SET innodb_lock_wait_timeout = 1"); err != nil {
		return err
	}
	_, err = c.ExecContext(t.Context(), text)
	return err
}
