package dump

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/router/catalog"
	"locus/test/shop"
)

// said is a schema that is sharded by its comments alone. In alphabetical order, in which dumps create them, tables come
// before the tables that they refer to, and views before those that they read.
const said = `
CREATE DATABASE %[1]s;
USE %[1]s;
CREATE TABLE person (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, born DATE, picture BLOB, KEY (name)) DEFAULT CHARSET utf8mb4 COMMENT 'locus: owner=id; who buys';
CREATE TABLE meeting (n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, person INT UNSIGNED NOT NULL, note VARCHAR(20), KEY (person), CONSTRAINT whose FOREIGN KEY (person) REFERENCES person (id)) DEFAULT CHARSET utf8mb4 COMMENT 'locus: owner=person';
CREATE TABLE purchase (order_id BIGINT NOT NULL PRIMARY KEY, order_no BIGINT NOT NULL, buyer BIGINT NOT NULL, amount DECIMAL(12,2), twice DECIMAL(13,2) AS (2 * amount) STORED, at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, KEY (buyer), KEY (order_no)) DEFAULT CHARSET utf8mb4 COMMENT 'locus: owner=buyer id=order_id order_no=order_no; it''s bought';
CREATE TABLE item (order_id BIGINT NOT NULL, line INT NOT NULL, what TEXT, PRIMARY KEY (order_id, line), CONSTRAINT part FOREIGN KEY (order_id) REFERENCES purchase (order_id) ON DELETE CASCADE) DEFAULT CHARSET utf8mb4 COMMENT 'locus: parent=order_id';
CREATE TABLE country (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, code CHAR(2) NOT NULL, name VARCHAR(40)) DEFAULT CHARSET utf8mb4 COMMENT 'locus: global';
CREATE TABLE setting (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40), value TEXT) DEFAULT CHARSET utf8mb4;
CREATE TRIGGER trimmed BEFORE INSERT ON setting FOR EACH ROW SET NEW.name = TRIM(NEW.name);
CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n;
CREATE VIEW named AS SELECT p.id, p.name, COUNT(m.n) AS meetings FROM person p LEFT JOIN meeting m ON m.person = p.id GROUP BY p.id, p.name;
CREATE VIEW busy AS SELECT name, meetings FROM named WHERE meetings > 1;
CREATE VIEW ahead AS SELECT COUNT(*) AS n FROM busy;
CREATE VIEW bought (buyer, parts) AS SELECT p.buyer, COUNT(*) FROM purchase p JOIN item i ON i.order_id = p.order_id GROUP BY p.buyer;
CREATE VIEW countries AS SELECT code, name FROM country WHERE code <> 'xx';
CREATE VIEW settings AS SELECT name, value FROM setting WHERE value IS NOT NULL;
INSERT INTO country (code, name) VALUES ('ch', 'Zürich''s'), ('xx', NULL);
INSERT INTO setting (name, value) VALUES (' a ', 'b'), ('c', NULL);
`

// people have meetings, purchases and items.
const people = 40

func fill(name string) []byte {
	b := bytes.NewBufferString(fmt.Sprintf(said, name))
	for n := 1; n <= people; n++ {
		fmt.Fprintf(b, "INSERT INTO person (name, born, picture) VALUES ('Ä ''q'' \\\\ %d', '1999-12-31', x'00ff27');\n", n)
		fmt.Fprintf(b, "INSERT INTO purchase (buyer, amount) VALUES (%d, %d.5);\n", n, n)
	}
	for n := 1; n <= people; n++ {
		fmt.Fprintf(b, "INSERT INTO meeting (person, note) VALUES (%d, 'a'), (%d, NULL);\n", n, n%people+1)
	}
	b.WriteString("INSERT INTO item SELECT order_id, 1, 'one\\nline' FROM purchase;\nINSERT INTO item SELECT order_id, 2, NULL FROM purchase WHERE buyer < 9;\n")
	return b.Bytes()
}

// parts are the queries for each shard, with the columns for the gene.
var parts = []string{
	"CONCAT_WS('|', id, locus_gene, name, born, HEX(picture)) FROM person", "CONCAT_WS('|', n, locus_gene, person, note) FROM meeting",
	"CONCAT_WS('|', order_id, order_no, buyer, amount, twice, at) FROM purchase", "CONCAT_WS('|', order_id, line, what) FROM item",
	"CONCAT_WS('|', id, code, name) FROM country",
}

// answers are of statements through a proxy.
var answers = []string{
	"CHECKSUM TABLE purchase, item, country", "CHECKSUM TABLE setting", "SELECT * FROM setting ORDER BY id", "SELECT twice(4)",
	"SELECT * FROM named ORDER BY id", "SELECT * FROM busy ORDER BY name", "SELECT * FROM ahead", "SELECT * FROM bought ORDER BY buyer",
	"SELECT * FROM countries ORDER BY code", "SELECT * FROM settings ORDER BY name",
}

// stands returns the cluster's state of the schema: the declarations, the rows and views of each shard, and the rows that
// clients see.
func stands(t *testing.T, s *shop.Shop, name string, ask func(query string) []byte) string {
	t.Helper()
	var b strings.Builder
	declared := maps.Collect(func(yield func(string, string) bool) {
		for table, d := range s.Declared() {
			if table.Schema == name && !yield(table.Name, d.Words()) {
				return
			}
		}
	})
	for _, table := range slices.Sorted(maps.Keys(declared)) {
		fmt.Fprintf(&b, "%s is declared: %s\n", table, declared[table])
	}
	for i, server := range s.Servers {
		db := server.DB(t, name)
		for _, part := range parts {
			fmt.Fprintf(&b, "s%d: %s\n%s", i, part, rowsOf(t, db, "SELECT "+part+" ORDER BY 1"))
		}
		fmt.Fprintf(&b, "s%d has the views\n%s", i, rowsOf(t, db, "SELECT TABLE_NAME FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1"))
	}
	b.Write(ask(strings.Join(answers, "; ")))
	return b.String()
}

func rowsOf(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var row string
		if err := rows.Scan(&row); err != nil {
			t.Fatal(err)
		}
		b.WriteString(row + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A dump of tables that are declared only by their comments is restored into a cluster that doesn't know them.
// Then they are declared, on every shard, each row is on its owner's shard, numbers continue, and views work.
// Restoring the dump over itself loses nothing.
func TestADumpDeclaresItsTables(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		all := servers.Shared(t, engine, 4)
		from := shop.Start(t, engine, shop.Options{Spanning: txn.XA, Servers: all[:2]})
		fresh := shop.Start(t, engine, shop.Options{Spanning: txn.XA, Servers: all[2:]})
		dump, client := programs(t, engine)
		source, target := place(from.Addr, shop.User, shop.Password), place(fresh.Addr, shop.User, shop.Password)
		name := from.Schema + "_said"
		t.Cleanup(func() {
			for _, server := range all {
				if err := server.Execute(context.WithoutCancel(t.Context()), "DROP DATABASE IF EXISTS "+name); err != nil {
					t.Error(err)
				}
			}
		})
		asking := func(a at) func(string) []byte {
			return func(query string) []byte { return a.run(t, nil, client, name, "-N", "-e", query) }
		}
		source.run(t, fill(name), client)
		was := stands(t, from, name, asking(source))
		for i, server := range all[:2] {
			if n := strings.TrimSpace(rowsOf(t, server.DB(t, name), "SELECT COUNT(*) FROM person")); n == "0" || n == fmt.Sprint(people) {
				t.Fatalf("s%d has %s of %d people", i, n, people)
			}
		}
		whole := []string{"--routines", "--triggers", "--databases", name}
		text := source.run(t, nil, dump, whole...)
		if bytes.Contains(text, []byte(catalog.OwnGene)) {
			t.Error("the dump has the column for the gene")
		}
		for _, over := range []string{"a fresh cluster", "itself"} {
			target.run(t, text, client)
			differ(t, "restored over "+over, stands(t, fresh, name, asking(target)), was)
			same(t, "restored over "+over+", dumped again", target.run(t, nil, dump, whole...), text)
		}
		target.run(t, []byte("INSERT INTO person (name) VALUES ('new'); INSERT INTO meeting (person) VALUES (1); INSERT INTO country (code) VALUES ('aa');"), client, name)
		if last := string(asking(target)("SELECT CONCAT_WS(' ', (SELECT MAX(id) FROM person), (SELECT MAX(n) FROM meeting), (SELECT MAX(id) FROM country))")); strings.TrimSpace(last) != "41 81 3" {
			t.Errorf("the last numbers are %s", last)
		}
		var each strings.Builder // this query reads only the owner's shard
		for id := 1; id <= people+1; id++ {
			fmt.Fprintf(&each, "SELECT COUNT(*) FROM person WHERE id = %d;", id)
		}
		if found := strings.Fields(string(asking(target)(each.String()))); len(found) != people+1 || slices.ContainsFunc(found, func(n string) bool { return n != "1" }) {
			t.Errorf("people are found %v times", found)
		}
		target.run(t, []byte("LOCK TABLES ahead READ, named READ LOCAL; UNLOCK TABLES; DROP VIEW ahead, busy, named, bought, countries; DROP VIEW settings;"), client, name)
	})
}

func differ(t *testing.T, what, now, was string) {
	t.Helper()
	a, b := strings.Split(now, "\n"), strings.Split(was, "\n")
	for i := range max(len(a), len(b)) {
		if line(a, i) != line(b, i) {
			t.Errorf("%s: line %d is %q, and was %q", what, i+1, line(a, i), line(b, i))
			return
		}
	}
}
