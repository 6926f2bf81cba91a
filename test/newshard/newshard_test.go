package newshard

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/internal/test/servers"
)

// orders are rows of the sharded table. Each has a country that is never deleted.
const orders = 300

func (c *stand) fill(db *sql.DB) {
	c.t.Helper()
	exec := func(query string) {
		c.t.Helper()
		if _, err := db.Exec(query); err != nil {
			c.t.Fatalf("%.200s: %v", query, err)
		}
	}
	exec("INSERT INTO region VALUES (1, 'one'), (2, 'two')")
	exec("INSERT INTO country (code, price) VALUES (1, 1), (2, 2), (3, 6.25), (4, 7)")
	for i := range orders {
		exec(fmt.Sprintf("INSERT INTO ordered (owner, country) VALUES (%d, %d)", i, 1+i%4))
	}
}

// pace is the pause of a client between two statements: the servers are tested, not the machine.
const pace = 3 * time.Millisecond

// rest waits for the interval between statements, or until the test ends.
func rest(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(pace):
	}
}

// write changes the global tables, as one client of several, and compares the server's answers with the expected
// ones.
func write(ctx context.Context, t *testing.T, db *sql.DB, client int) (statements int) {
	code := client * 1_000_000 // far from others', so that they wait for no gaps of each other
	for i := 1; ctx.Err() == nil; i++ {
		for _, s := range []struct {
			text     string
			affected int64
		}{
			{fmt.Sprintf("INSERT INTO country (code, region, price) VALUES (%d, 2, 1)", code), 1},
			{fmt.Sprintf("UPDATE country SET hits = hits + 1 WHERE code = %d", client), 1},
			{fmt.Sprintf("UPDATE country SET hits = %d WHERE code IN (%d, %d)", i*10, client, code), 2},
			{fmt.Sprintf("INSERT INTO country (code, price) VALUES (%d, 1)", code+i), 1},
			{fmt.Sprintf("DELETE FROM country WHERE code = %d", code), 1},
		} {
			r, err := db.Exec(s.text)
			if err != nil {
				t.Errorf("%s: %v", s.text, err)
				return statements
			}
			if n, _ := r.RowsAffected(); n != s.affected {
				t.Errorf("%s: %d rows, want %d", s.text, n, s.affected)
			}
			statements++
			rest(ctx)
		}
	}
	return statements
}

// read repeatedly reads rows that do not change.
func read(ctx context.Context, t *testing.T, db *sql.DB) (looks int) {
	for ctx.Err() == nil {
		for query, want := range map[string]int{
			"SELECT COUNT(*) FROM ordered":                                                         orders,
			"SELECT COUNT(*) FROM ordered o JOIN country c ON c.code = o.country":                  orders,
			"SELECT COUNT(*) FROM ordered o JOIN dear d ON d.code = o.country WHERE o.owner < 200": 100,
			"SELECT COUNT(*) FROM dear":                                                            2,
			"SELECT COUNT(*) FROM ordered WHERE owner = 7 HAVING LENGTH(MAX(accented(owner))) > 2": 1,
			"SELECT most FROM aim":                                                                 4,
			"SELECT COUNT(*) FROM country WHERE code < 5":                                          4,
		} {
			var n int
			if err := db.QueryRow(query).Scan(&n); err != nil || n != want {
				t.Errorf("%s: %d, %v; want %d", query, n, err, want)
				return looks
			}
			looks++
			rest(ctx)
		}
	}
	return looks
}

// clients write and read until the returned function is called.
func (c *stand) clients() (stop func()) {
	db := c.db()
	ctx, cancel := context.WithCancel(c.t.Context())
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() { c.t.Logf("a writer: %d statements", write(ctx, c.t, db, 1+i)) })
	}
	all.Go(func() { c.t.Logf("a reader: %d looks", read(ctx, c.t, db)) })
	stop = sync.OnceFunc(func() {
		cancel()
		all.Wait()
	})
	c.t.Cleanup(stop)
	return stop
}

const columns = "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, CHARACTER_SET_NAME, COLLATION_NAME, EXTRA, IS_NULLABLE, COLUMN_DEFAULT" +
	" FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop' ORDER BY TABLE_NAME, ORDINAL_POSITION"

const countries = "SELECT * FROM shop.country ORDER BY code"

// alike compares all servers with the first, whose rows no client changes any more.
func (c *stand) alike() {
	c.t.Helper()
	first := c.servers[0].DB(c.t, "shop")
	for i, s := range c.servers[1:] {
		db := s.DB(c.t, "shop")
		for _, query := range []string{countries, "SELECT * FROM shop.region ORDER BY id", "SHOW CREATE VIEW shop.dear", "SHOW CREATE VIEW shop.aim", "SHOW CREATE VIEW shop.accents", "SHOW CREATE FUNCTION shop.accented", "SHOW CREATE PROCEDURE shop.says", "SHOW CREATE DATABASE shop", columns} {
			if got, want := rows(c.t, db, query), rows(c.t, first, query); got != want {
				c.t.Errorf("s%d: %s gives\n%.2000s\nand on s0\n%.2000s", i+1, query, got, want)
			}
		}
		if got := rows(c.t, db, "SELECT COUNT(*) FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'shop' AND ROUTINE_NAME LIKE '%regions'"); i > 0 && !strings.Contains(got, "0") {
			c.t.Errorf("s%d: routines that read tables: %s", i+1, got)
		}
		if !strings.Contains(rows(c.t, db, "SHOW CREATE TABLE shop.ordered"), "locus_gene") {
			c.t.Errorf("s%d: the column that locus adds is not there", i+1)
		}
	}
	if out := c.MustLocus("verify"); strings.Contains(out, "differ from those on") {
		c.t.Error(out)
	}
}

// TestANewShard: an empty server becomes a shard and gets genes while clients write global tables and read.
func TestANewShard(t *testing.T) {
	servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
		c := open(t, engine)
		db := c.db()
		c.fill(db)
		stop := c.clients()
		c.declare(3)
		out := c.MustLocus("apply", "-f", c.Path("cluster.yaml"), "--dry-run")
		for _, want := range []string{"make database shop on shard s2", "make table shop.ordered on shard s2", "make view shop.aim on shard s2", "make function shop.accented on shard s2", "make procedure shop.says on shard s2", "copy the rows of shop.country to shard s2"} {
			if !strings.Contains(out, want) {
				t.Errorf("the dry run doesn't say %q:\n%s", want, out)
			}
		}
		if got := rows(t, c.servers[2].DB(t, ""), "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME IN ('shop', 'locus')"); got != "" {
			t.Errorf("the dry run made %s", got)
		}
		t.Log(c.MustLocus("apply", "-f", c.Path("cluster.yaml")))
		if out := c.MustLocus("apply", "-f", c.Path("cluster.yaml")); strings.Contains(out, "make ") || strings.Contains(out, "copied") {
			t.Errorf("applied again: %s", out)
		}
		c.MustLocus("split", "--from", "s0", "--to", "s2", "--half")
		c.MustLocus("wait", "split-1")
		c.MustLocus("cutover", "split-1", "--to", "100%", "--yes")
		c.MustLocus("wait", "split-1", "--for", "cut")
		c.MustLocus("finish", "split-1", "--yes")
		c.MustLocus("wait", "split-1", "--for", "done")
		if rows(t, c.servers[2].DB(t, ""), "SELECT 1 FROM shop.ordered LIMIT 1") == "" {
			t.Error("the new shard has no rows")
		}
		stop()
		c.alike()
		if out, err := c.Locus("shard", "fill", "s2", "--yes"); err == nil || !strings.Contains(out, "owns genes") {
			t.Errorf("a shard that is read was filled: %s", out)
		}
	})
}
