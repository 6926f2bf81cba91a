package newshard

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"locus/internal/test/servers"
	"locus/test/product"
)

// rated is the number of rows that are never deleted.
const rated = 300

// rate writes a table without a pause, as one client of several, and returns how often it has raised its own row.
func rate(ctx context.Context, t *testing.T, db *sql.DB, client int) (raised int) {
	for i := 1; ctx.Err() == nil; i++ {
		name := fmt.Sprintf("%d/%d", client, i)
		for _, s := range []struct {
			text     string
			affected int64
		}{
			{fmt.Sprintf("UPDATE rate SET value = value + 1 WHERE code = %d", client), 1},
			{fmt.Sprintf("INSERT INTO rate (value, name) VALUES (%d, '%s')", i, name), 1},
			{fmt.Sprintf("UPDATE rate SET name = CONCAT(name, '!') WHERE name = '%s'", name), 1},
			{fmt.Sprintf("DELETE FROM rate WHERE name = '%s!'", name), 1},
		} {
			r, err := db.Exec(s.text)
			if err != nil {
				t.Errorf("%s: %v", s.text, err)
				return raised
			}
			if n, _ := r.RowsAffected(); n != s.affected {
				t.Errorf("%s: %d rows, want %d", s.text, n, s.affected)
			}
		}
		raised++
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM rate WHERE code <= ?", rated).Scan(&n); err != nil || n != rated {
			t.Errorf("%d rows, %v; want %d", n, err, rated)
			return raised
		}
	}
	return raised
}

// sameRates compares the shards with the first one.
func (c *stand) sameRates(shards int) {
	c.t.Helper()
	for _, query := range []string{"SELECT * FROM rate ORDER BY code", "SHOW CREATE VIEW shop.high", "SHOW CREATE VIEW shop.highest"} {
		want := rows(c.t, c.servers[0].DB(c.t, "shop"), query)
		for i, s := range c.servers[1:shards] {
			if got := rows(c.t, s.DB(c.t, "shop"), query); got != want {
				c.t.Errorf("s%d: %s gives\n%.2000s\nand on s0\n%.2000s", i+1, query, got, want)
			}
		}
	}
}

// TestATableBecomesGlobal: a table with rows is copied to every shard while clients write it, is rolled back, and is
// copied again. A shard that is added later gets it too.
func TestATableBecomesGlobal(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := open(t, engine)
		db := c.db()
		values := make([]string, rated)
		for i := range values {
			values[i] = fmt.Sprintf("(0, 'row %d')", i)
		}
		for _, query := range []string{
			"CREATE TABLE rate (code INT NOT NULL AUTO_INCREMENT PRIMARY KEY, value BIGINT NOT NULL, name VARCHAR(40) NOT NULL UNIQUE)",
			"INSERT INTO rate (value, name) VALUES " + strings.Join(values, ", "),
			"CREATE VIEW high AS SELECT code FROM rate WHERE code BETWEEN 11 AND 20",
			"CREATE VIEW highest AS SELECT MAX(code) AS most FROM high",
		} {
			if _, err := db.Exec(query); err != nil {
				t.Fatalf("%.200s: %v", query, err)
			}
		}
		for i := range 40 {
			if _, err := db.Exec(fmt.Sprintf("INSERT INTO ordered (owner, country) VALUES (%d, %d)", i, 1+i%20)); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		raised := make([]int, 3)
		for i := range raised {
			clients.Go(func() { raised[i] = rate(ctx, t, db, 1+i) })
		}
		stop := sync.OnceFunc(func() { cancel(); clients.Wait() })
		t.Cleanup(stop)

		out := c.MustLocus("import", "shop.rate", "global", "--dry-run")
		for _, want := range []string{"copy all rows to every shard", "declared global"} {
			if !strings.Contains(out, want) {
				t.Errorf("the dry run doesn't say %q:\n%s", want, out)
			}
		}
		c.MustLocus("import", "shop.rate", "global", "--why", "rates are joined")
		c.MustLocus("wait", "import-1", "--for", "ready")
		c.MustLocus("abort", "import-1", "--yes")
		product.Eventually(t, "the import is given up", func() bool { return strings.Contains(c.MustLocus("jobs", "import-1"), "import-1  aborted") })
		if got := rows(t, c.servers[1].DB(t, ""), "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_NAME IN ('rate', 'high', 'highest')"); got != "" {
			t.Errorf("an import that was given up leaves %s", got)
		}
		c.MustLocus("import", "shop.rate", "global")
		c.MustLocus("wait", "import-2", "--for", "ready")
		for _, order := range [][]string{{"cutover", "import-2", "--to", "100%", "--yes"}, {"rollback", "import-2", "--yes"}, {"cutover", "import-2", "--to", "100%", "--yes"}} {
			c.MustLocus(order...)
			state, declared := "cut", "global"
			if order[0] == "rollback" {
				state, declared = "ready", "single"
			}
			c.MustLocus("wait", "import-2", "--for", state)
			if out := c.MustLocus("table", "show", "shop.rate"); !strings.Contains(out, declared) {
				t.Errorf("after %s the table is\n%s", order[0], out)
			}
			if got := rows(t, db, "SELECT most FROM highest"); got != "\"20\" \n" {
				t.Errorf("after %s the view has %s", order[0], got)
			}
			if declared != "global" {
				continue
			}
			if got := rows(t, db, "SELECT COUNT(*) FROM ordered o JOIN rate r ON r.code = o.country"); got != "\"40\" \n" {
				t.Errorf("after %s a join has %s", order[0], got)
			}
			if got := rows(t, db, "SELECT COUNT(*) FROM ordered o JOIN high h ON h.code = o.country"); got != "\"20\" \n" {
				t.Errorf("after %s a join with a view has %s", order[0], got)
			}
		}
		c.MustLocus("finish", "import-2", "--yes")
		c.MustLocus("wait", "import-2", "--for", "done")
		stop()
		for i, n := range raised {
			if got := rows(t, db, fmt.Sprintf("SELECT value FROM rate WHERE code = %d", 1+i)); got != fmt.Sprintf("\"%d\" \n", n) || n == 0 {
				t.Errorf("row %d was raised %d times and has %s", 1+i, n, got)
			}
		}
		if got := rows(t, db, "SELECT COUNT(*) FROM rate"); got != fmt.Sprintf("\"%d\" \n", rated) {
			t.Errorf("rows: %s", got)
		}
		c.sameRates(2)
		if out := c.MustLocus("verify"); strings.Contains(out, "differ from those on") {
			t.Error(out)
		}
		c.MustLocus("shard", "add", "s2", "--address", c.servers[2].Addr(), "--user", c.servers[2].User, "--secret", "shard")
		c.sameRates(3)
	})
}

// TestTablesThatCannotBecomeGlobal checks that tables that an import can't make global are refused before it begins.
func TestTablesThatCannotBecomeGlobal(t *testing.T) {
	servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
		c := open(t, engine)
		db := c.db()
		for _, query := range []string{
			"CREATE TABLE keyless (v INT)", "INSERT INTO keyless VALUES (1)",
			"CREATE TABLE single (id INT NOT NULL PRIMARY KEY)", "CREATE TABLE other_single (id INT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL)",
			"CREATE VIEW taken AS SELECT id FROM single",
		} {
			if _, err := db.Exec(query); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		c.servers[1].Exec(t, "CREATE TABLE shop.taken (n INT)")
		for _, of := range []struct {
			words []string
			want  string
		}{
			{[]string{"shop.keyless", "global"}, "no primary key"},
			{[]string{"shop.country", "global"}, "is declared already"},
			{[]string{"shop.single", "global", "--also", "shop.other_single owner=uid"}, "import them one after the other"},
			{[]string{"shop.single", "global", "--from", "a@127.0.0.1:1", "--secret", "shard"}, "bring them to the default shard first"},
			{[]string{"shop.single", "global"}, "another table or view shop.taken"},
		} {
			out, err := c.Locus(append(append([]string{"import"}, of.words...), "--dry-run")...)
			if err == nil || !strings.Contains(out, of.want) {
				t.Errorf("%v: %v\n%s\nwant %q", of.words, err, out, of.want)
			}
		}
	})
}
