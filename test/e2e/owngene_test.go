package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locus/control/fitting"
	"locus/control/owngene"
	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/router/catalog"
	"locus/test/shop"
)

// genes checks that each row of a table has the gene of its owner on every shard, and returns the number of rows of
// each shard.
func genes(t *testing.T, s *shop.Shop, table, owner string) (counts []int) {
	t.Helper()
	for i := range s.Servers {
		list, err := s.Shard(t, i).Query("SELECT " + owner + ", locus_gene FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for list.Next() {
			var of, is int64
			if err := list.Scan(&of, &is); err != nil {
				t.Fatal(err)
			}
			n++
			g := gene.OfInt(of, s.Cluster.Settings.GeneBits)
			if at := s.Cluster.Routes.Shard(s.Cluster.Routes.Lookup(g)); int64(g) != is || string(at) != fmt.Sprintf("s%d", i) {
				t.Errorf("%s on s%d: a row of %d has gene %d, and is to have %d, on %s", table, i, of, is, g, at)
			}
		}
		counts = append(counts, n)
	}
	return counts
}

// A sharded table whose columns contain no gene needs no column for it in its definition: the proxy adds one.
func TestAColumnForTheGeneIsMade(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		columns := "(w_id INT NOT NULL, d_id TINYINT NOT NULL CHECK (d_id IN (1, 2, 3)), name VARCHAR(10) DEFAULT ')', PRIMARY KEY (w_id, d_id))"
		exec(t, db, "CREATE TABLE district "+columns+" COMMENT 'locus: owner=w_id; (of a warehouse)'")
		exec(t, db, "CREATE TABLE IF NOT EXISTS district "+columns)
		spread := func() {
			t.Helper()
			exec(t, db, "INSERT INTO district VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c'), (4, 1, 'd'), (5, 1, 'e')")
			exec(t, db, "INSERT INTO district (w_id, d_id) VALUES (?, ?)", 6, 2)
			exec(t, db, "INSERT INTO district SET w_id = 7, d_id = 3, name = 'x'")
			exec(t, db, "INSERT INTO district SELECT w_id + 10, d_id, name FROM district")
			exec(t, db, "REPLACE INTO district VALUES (7, 3, 'g')")
			if got := genes(t, s, "district", "w_id"); got[0] == 0 || got[1] == 0 || got[0]+got[1] != 14 {
				t.Errorf("rows on the shards: %v", got)
			}
		}
		spread()
		if got := rows(t, db, "SELECT * FROM district WHERE w_id = 7"); !slices.Equal(got, []string{"7 3 g"}) {
			t.Errorf("SELECT *: %q", got)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM district a NATURAL JOIN district b"); got != 14 {
			t.Errorf("NATURAL JOIN: %d", got)
		}
		exec(t, db, "DROP TABLE district")
		exec(t, db, "CREATE TABLE district "+columns) // as in a dump
		spread()

		exec(t, db, "CREATE TABLE customer (c_w_id INT NOT NULL, c_d_id INT NOT NULL, c_id INT NOT NULL, PRIMARY KEY (c_w_id, c_d_id, c_id)) COMMENT 'locus: owner=c_w_id'")
		exec(t, db, "INSERT INTO customer SELECT w_id, d_id, 1 FROM district")
		if got := number(t, db, "SELECT COUNT(*) FROM customer JOIN district ON w_id = c_w_id AND d_id = c_d_id"); got != 14 {
			t.Errorf("%d customers", got)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM customer NATURAL JOIN district"); got != 14*14 { // they share no column
			t.Errorf("NATURAL JOIN: %d", got)
		}
		one := s.Shard(t, 0)
		if got := number(t, one, "SELECT COUNT(*) = (SELECT COUNT(*) FROM customer) * (SELECT COUNT(*) FROM district) FROM customer NATURAL JOIN district"); got != 1 {
			t.Error("NATURAL JOIN of one shard")
		}

		// A table that numbers its rows, which are their own owners.
		exec(t, db, "CREATE TABLE person (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20)) COMMENT 'locus: owner=id'")
		exec(t, db, "INSERT INTO person VALUES (NULL, 'a'), (0, 'b'), (17, 'c'), (NULL, 'd')")
		exec(t, db, "INSERT INTO person (name) VALUES ('e'), ('f')")
		genes(t, s, "person", "id")
		if got := rows(t, db, "SELECT id, name FROM person ORDER BY id"); !slices.Equal(got, []string{"1 a", "2 b", "17 c", "18 d", "19 e", "20 f"}) {
			t.Errorf("%q", got)
		}
	})
}

// An existing table without rows gets the column too. One that can't be declared does not keep it.
func TestAColumnForTheGeneIsAdded(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		exec(t, db, "CREATE TABLE stock (w_id INT NOT NULL, i_id INT NOT NULL, at TIMESTAMP NULL, PRIMARY KEY (w_id, i_id))")
		_, err := db.Exec("ALTER TABLE stock COMMENT 'locus: owner=at'")
		refused(t, err, 1105, "locus-1010")
		if got := number(t, s.Shard(t, 0), "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'stock'"); got != 3 {
			t.Errorf("it has %d columns", got)
		}
		exec(t, db, "ALTER TABLE stock COMMENT 'locus: owner=w_id'")
		exec(t, db, "INSERT INTO stock VALUES (1, 1, NULL), (2, 1, NULL), (3, 1, NULL), (4, 1, NULL), (5, 1, NULL), (6, 1, NULL)")
		if got := genes(t, s, "stock", "w_id"); got[0] == 0 || got[1] == 0 {
			t.Errorf("rows on the shards: %v", got)
		}
		exec(t, db, "CREATE TABLE area (w_id INT NOT NULL PRIMARY KEY) COMMENT 'locus: owner=w_id'")
		exec(t, db, "DROP TABLE area")
		exec(t, db, "CREATE TABLE area LIKE stock")
		exec(t, db, "INSERT INTO area VALUES (9, 9, NULL)")
		genes(t, s, "area", "w_id")
		exec(t, db, "DROP TABLE area")
		_, err = db.Exec("CREATE TABLE area LIKE product")
		refused(t, err, 1235, "write its columns out")
	})
}

// An existing table whose rows are all on their owners' shards is declared: the column is added and filled, and an
// interrupted addition is completed.
func TestAColumnForTheGeneIsFilled(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{Tables: []string{
			"CREATE TABLE {schema}.basket (buyer VARCHAR(20) NOT NULL, line INT NOT NULL, changed DATETIME NOT NULL DEFAULT '2001-02-03' ON UPDATE CURRENT_TIMESTAMP," +
				" PRIMARY KEY (buyer, line)) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
		}})
		var buyers []string
		add := func(buyer string) {
			at := s.Cluster.Routes.Lookup(gene.OfBytes([]byte(strings.TrimRight(buyer, " ")), s.Cluster.Settings.GeneBits))
			exec(t, s.Shard(t, at), "INSERT INTO basket (buyer, line) VALUES (?, 1), (?, 2)", buyer, buyer)
			buyers = append(buyers, buyer)
		}
		for _, buyer := range []string{"", "alice", "bob ", "d'or\\", "买家-7", "e", "f"} {
			add(buyer)
		}
		exec(t, s.Shard(t, 1), "ALTER TABLE basket ADD ("+catalog.OwnGeneDefinition+")") // what was begun before
		next := *s.Cluster
		next.Tables = maps.Clone(next.Tables)
		next.Tables[catalog.TableName{Schema: s.Schema, Name: "basket"}] = catalog.Declaration{Kind: catalog.Sharded, Owner: "buyer"}
		shards, err := fitting.Open(func(string) (string, error) { return s.Servers[0].Password, nil }, time.Second, nil, &next)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { shards.Close(t.Context()) })
		change := fitting.Change{Old: s.Cluster, Next: &next, Shards: shards}
		looked := func() string {
			loaded, err := change.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			stranded, err := change.Stranded(t.Context(), loaded)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(change.Problems(t.Context(), loaded), stranded)
		}
		if got := looked(); got != "[] []" {
			t.Errorf("before: %s", got)
		}
		exec(t, s.Shard(t, 1), "INSERT INTO basket (buyer, line) VALUES ('alice', 7)")
		if got := looked(); !strings.Contains(got, "has 1 rows of genes that are not s1's, such as") {
			t.Errorf("with a row that is misplaced: %s", got)
		}
		exec(t, s.Shard(t, 1), "DELETE FROM basket WHERE line = 7")
		for range 2 {
			if err := owngene.Make(t.Context(), shards.Of(&next), &next); err != nil {
				t.Fatal(err)
			}
			if got := looked(); got != "[] []" {
				t.Errorf("after: %s", got)
			}
			add("g" + strconv.Itoa(len(buyers))) // by a proxy that has not read the change yet
		}
		if err := owngene.Make(t.Context(), shards.Of(&next), &next); err != nil {
			t.Fatal(err)
		}
		s.Apply(&next)
		db := s.DB(t, nil)
		until(t, "the table is declared", func() bool {
			_, err := db.Exec("INSERT INTO basket (line) VALUES (1)")
			return err != nil && strings.Contains(err.Error(), "locus-1201")
		})
		for _, buyer := range buyers {
			if got := rows(t, db, "SELECT * FROM basket WHERE buyer = ? AND line = 1", buyer); !slices.Equal(got, []string{buyer + " 1 2001-02-03 00:00:00"}) {
				t.Errorf("%q", got)
			}
		}
		if got := number(t, db, "SELECT COUNT(*) FROM basket"); got != int64(2*len(buyers)) {
			t.Errorf("%d rows", got)
		}
	})
}

// Statements that show a table's definition don't show the column.
func TestTheColumnForTheGeneIsHidden(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		columns := " (w_id INT NOT NULL, d_id INT NOT NULL, note VARCHAR(20) DEFAULT '`locus_gene` ,', PRIMARY KEY (w_id, d_id), KEY note (note, d_id)) COMMENT "
		exec(t, db, "CREATE TABLE twin"+columns+"'plain'")
		exec(t, db, "CREATE TABLE here"+columns+"'locus: owner=w_id'")
		if engine, _ := strings.CutPrefix(t.Name(), "TestTheColumnForTheGeneIsHidden/mysql"); engine != t.Name() {
			exec(t, db, "CREATE INDEX twice ON twin ((d_id * 2))")
			exec(t, db, "CREATE INDEX twice ON here ((d_id * 2))")
		}
		plain := strings.NewReplacer("here", "twin", "locus: owner=w_id", "plain")
		one, err := db.Conn(t.Context()) // one sql_mode
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		ask := func(query string) (answer string) {
			t.Helper()
			run := one.QueryContext
			if strings.HasSuffix(t.Name(), "prepared") && !strings.HasPrefix(query, "EXPLAIN") { // which MySQL doesn't prepare
				st, err := one.PrepareContext(t.Context(), query)
				if err != nil {
					t.Fatalf("%s: %v", query, err)
				}
				defer st.Close()
				run = func(ctx context.Context, _ string, args ...any) (*sql.Rows, error) {
					return st.QueryContext(ctx, args...)
				}
			}
			r, err := run(t.Context(), query)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			defer r.Close()
			names, err := r.Columns()
			if err != nil {
				t.Fatal(err)
			}
			answer = fmt.Sprintln(names)
			for r.Next() {
				values, places := make([]sql.NullString, len(names)), make([]any, len(names))
				for i := range values {
					places[i] = &values[i]
				}
				if err := r.Scan(places...); err != nil {
					t.Fatal(err)
				}
				answer += fmt.Sprintln(values)
			}
			return plain.Replace(answer)
		}
		for _, mode := range []string{"", "ANSI_QUOTES"} {
			if _, err := one.ExecContext(t.Context(), "SET SESSION sql_mode = '"+mode+"'"); err != nil {
				t.Fatal(err)
			}
			for _, query := range []string{
				"SHOW CREATE TABLE here", "SHOW COLUMNS FROM here", "SHOW FULL FIELDS IN here LIKE '%'", "DESCRIBE here", "DESC here note", "EXPLAIN here", "SHOW INDEX FROM here",
				"SHOW KEYS FROM here WHERE Seq_in_index > 0", "SHOW COLUMNS FROM here WHERE Field = 'locus_gene'",
				"SELECT column_name, ordinal_position, extra FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY ordinal_position",
				"SELECT COUNT(*) FROM information_schema.COLUMNS AS c JOIN information_schema.tables USING (table_schema, table_name) WHERE table_schema = DATABASE() AND table_name = 'here'",
				"SELECT index_name, seq_in_index, column_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'here' ORDER BY 1, 2",
				"SELECT (SELECT GROUP_CONCAT(column_name ORDER BY 1) FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'here')",
			} {
				if got, want := ask(query), ask(strings.ReplaceAll(query, "here", "twin")); got != want {
					t.Errorf("%s under %q:\n%s\nand is to be\n%s", query, mode, got, want)
				}
			}
		}
	})
}

// No definition may remove columns of the declaration, or those that locus added, in any clause: the whole statement
// is refused.
func TestWhatATableIsDeclaredByStays(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		exec(t, db, "CREATE TABLE stock (w_id INT NOT NULL, i_id INT NOT NULL, PRIMARY KEY (w_id, i_id)) COMMENT 'locus: owner=w_id'")
		exec(t, db, "INSERT INTO stock VALUES (1, 1), (2, 1), (3, 1), (4, 1)")
		built := func() (all string) {
			for i := range s.Servers {
				var table, text string
				if err := s.Shard(t, i).QueryRow("SHOW CREATE TABLE stock").Scan(&table, &text); err != nil {
					t.Fatal(err)
				}
				all += text
			}
			return all
		}
		before := built()
		for _, text := range []string{
			"ALTER TABLE stock DROP COLUMN locus_gene",
			"ALTER TABLE stock ADD COLUMN a INT, MODIFY locus_gene BIGINT, ADD COLUMN b INT",
			"ALTER TABLE stock CHANGE `locus_gene` gene INT",
			"ALTER TABLE stock RENAME COLUMN locus_gene TO gene",
			"ALTER TABLE stock ADD COLUMN locus_gene INT",
			"ALTER TABLE stock DROP INDEX locus_gene",
			"DROP INDEX locus_gene ON stock",
			"CREATE INDEX two ON stock (i_id, locus_gene)",
			"ALTER TABLE stock ADD COLUMN g INT AS (locus_gene + 1)",
			"ALTER TABLE stock ADD CONSTRAINT genes CHECK (locus_gene >= 0)",
			"CREATE VIEW genes AS SELECT locus_gene FROM stock",
			"ALTER TABLE stock ADD COLUMN a INT, DROP COLUMN w_id",
			"ALTER TABLE stock CHANGE w_id warehouse INT",
			"ALTER TABLE stock MODIFY w_id VARCHAR(20) COLLATE utf8mb4_bin",
			"ALTER TABLE test_order DROP COLUMN order_no",
		} {
			_, err := db.Exec(text)
			refused(t, err, 1235, "locus-1011")
		}
		_, err := db.Exec("CREATE TABLE shelf (w_id INT PRIMARY KEY, locus_gene INT) COMMENT 'locus: owner=w_id'")
		refused(t, err, 1235, "locus-1011")
		_, err = db.Exec("CREATE TABLE shelf SELECT * FROM stock")
		refused(t, err, 1235, "locus-1")
		_, err = db.Exec("CREATE TEMPORARY TABLE shelf LIKE stock")
		refused(t, err, 1235, "locus-1")
		if got := built(); got != before || placedOn(t, s, "shelf") != "" {
			t.Errorf("the table was\n%s\nand is\n%s", before, got)
		}
		exec(t, db, "ALTER TABLE stock MODIFY w_id BIGINT NOT NULL COMMENT 'longer'")
		exec(t, db, "CREATE TABLE shelf LIKE stock")
		exec(t, db, "RENAME TABLE shelf TO rack")
		exec(t, db, "INSERT INTO rack SELECT * FROM stock")
		if got := number(t, db, "SELECT COUNT(*) FROM rack"); got != 4 {
			t.Errorf("%d rows in a table like it", got)
		}
		exec(t, db, "CREATE VIEW everything AS SELECT * FROM stock")
		if got := rows(t, db, "SELECT * FROM everything ORDER BY 1"); !slices.Equal(got, []string{"1 1", "2 1", "3 1", "4 1"}) {
			t.Errorf("a view of all columns has %q", got)
		}
	})
}
