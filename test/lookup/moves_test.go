//go:build servers

package lookup

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/migrate/phase"
	"locus/test/cluster"
	"locus/test/product"
)

// Rows and entries are moved to another shard, back, and there again, while clients change them through two proxies, which are killed and
// started again. Afterwards every row has its entry, and every entry its row.
func TestMovesAndKills(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := cluster.Start(t, engine, cluster.Options{Shards: 2, Spare: 1, UserFields: ", admin: true, scatter_writes: allow"})
		proxies := []*cluster.Served{c.Serve("one"), c.Serve("two")}
		var dbs []*sql.DB
		for _, p := range proxies {
			db := cluster.Open(cluster.Config(p.Addr))
			defer db.Close()
			dbs = append(dbs, db)
		}
		must(t, dbs[0], users+declares, entries, "CALL locus.fill_lookup('shop.users_by_email')")
		var stop atomic.Bool
		var clients sync.WaitGroup
		var writes atomic.Int64
		for i := range 4 {
			clients.Go(func() { persist(t, dbs[i%2], uint64(i), &stop, &writes) })
		}
		await := func(job, name string) { c.AwaitPhase(job, phase.Phase(name)) }
		command := func(args ...string) {
			var out string
			var err error
			t.Cleanup(func() {
				if err != nil {
					t.Log(out)
				}
			})
			product.Eventually(t, fmt.Sprint("the command is accepted: ", args), func() bool { out, err = c.Locus(args...); return err == nil })
		}
		command("split", "--from", "s0", "--to", "s2", "--half")
		await("split-1", "ready")
		for round := range scale.Of(1, 4) {
			command("cutover", "split-1", "--to", "100%", "--yes")
			await("split-1", "cut")
			restart(t, proxies[round%2])
			command("rollback", "split-1", "--yes")
			await("split-1", "ready")
			restart(t, proxies[(round+1)%2])
		}
		command("cutover", "split-1", "--to", "100%", "--yes")
		await("split-1", "cut")
		command("finish", "split-1", "--yes")
		await("split-1", "done")
		before := writes.Load()
		product.Eventually(t, "clients write", func() bool { return writes.Load() > before+50 })
		stop.Store(true)
		clients.Wait()
		product.Eventually(t, "no branch is prepared", func() bool {
			branches := 0
			c.All(t, "XA RECOVER", func(int, *sql.Rows) error { branches++; return nil })
			return branches == 0
		})
		checkEntries(t, onAll(t, c))
		if got := column(t, dbs[0], "SELECT COUNT(DISTINCT id) > 0 FROM users"); got != "1" {
			t.Error("no rows are left")
		}
	})
}

// onAll returns a function that returns the answers of all shards of a cluster to a query.
func onAll(t *testing.T, c *cluster.Cluster) func(string) string {
	return func(query string) string {
		all := ""
		c.All(t, query, func(_ int, rows *sql.Rows) error {
			var line string
			err := rows.Scan(&line)
			all += " " + line
			return err
		})
		return all
	}
}

func restart(t *testing.T, p *cluster.Served) {
	t.Helper()
	p.Kill()
	p.Start(t)
	p.AwaitReady(t)
}

// persist runs statements, and goes on after every error.
func persist(t *testing.T, db *sql.DB, seed uint64, stop *atomic.Bool, writes *atomic.Int64) {
	r := rand.New(rand.NewPCG(seed, 3))
	for !stop.Load() {
		c, err := db.Conn(t.Context())
		if err != nil {
			continue
		}
		_, err = c.ExecContext(t.Context(), "SET innodb_lock_wait_timeout = 1")
		for n := 0; (err == nil || loses(err)) && n < 200 && !stop.Load(); n++ {
			st := randomStatement(r)
			switch r.IntN(10) {
			case 0:
				st = statement{text: "BEGIN"}
			case 1, 2:
				st = statement{text: "COMMIT"}
			}
			var rows *sql.Rows
			if rows, err = c.QueryContext(t.Context(), st.text, st.args...); err == nil {
				for rows.Next() {
				}
				err = rows.Err()
				_ = rows.Close()
				writes.Add(1)
			}
		}
		_, _ = c.ExecContext(t.Context(), "ROLLBACK")
		_ = c.Close()
	}
}
