// Package dump takes a cluster's data out through the proxy with the servers' own
// programs, as they come, and puts it back in.
package dump

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/router/catalog"
	"locus/test/shop"
)

func TestMain(m *testing.M) { servers.Main(m) }

// programs returns an engine's own programs for writing and for reading a dump.
func programs(t *testing.T, engine servers.Engine) (dump, client []string) {
	t.Helper()
	if engine == servers.MariaDB {
		return servers.Program(t, engine, "mariadb-dump"), servers.Program(t, engine, "mariadb")
	}
	return servers.Program(t, engine, "mysqldump"), servers.Program(t, engine, "mysql")
}

// at is the server to which a program logs in.
type at struct{ host, port, user, password string }

func (a at) run(t *testing.T, input []byte, program []string, args ...string) []byte {
	t.Helper()
	line := append(program[1:len(program):len(program)], "--no-defaults", "-h"+a.host, "-P"+a.port, "-u"+a.user, "--default-character-set=utf8mb4")
	command := exec.CommandContext(context.WithoutCancel(t.Context()), program[0], append(line, args...)...)
	command.Env = append(os.Environ(), "MYSQL_PWD="+a.password)
	command.Stdin = bytes.NewReader(input)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program[len(program)-1]), strings.Join(args, " "), err, problems.Bytes())
	}
	return out.Bytes()
}

func place(addr, user, password string) at {
	host, port, _ := strings.Cut(addr, ":")
	return at{host, port, user, password}
}

// unlike matches lines with the program, the host and the time of a dump.
var unlike = regexp.MustCompile(`(?m)^(-- (MySQL dump|MariaDB dump|Host:|Server version|Dump completed).*|/\*M!999999.*)$`)

func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	a, b := strings.Split(unlike.ReplaceAllString(string(got), ""), "\n"), strings.Split(unlike.ReplaceAllString(string(want), ""), "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Errorf("%s: line %d of %d and %d differs\nproxy: %s\nplain: %s", what, i+1, len(a), len(b), line(a, i), line(b, i))
			return
		}
	}
}

func line(l []string, i int) string {
	if i >= len(l) {
		return "(none)"
	}
	return l[i][:min(len(l[i]), 300)]
}

const plain = `
CREATE DATABASE %[1]s;
USE %[1]s;
CREATE TABLE author (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40), born DATE, picture BLOB, KEY (name)) AUTO_INCREMENT = 7;
CREATE TABLE book (id INT PRIMARY KEY, author INT, title TEXT, price DECIMAL(8,2), FOREIGN KEY (author) REFERENCES author (id));
INSERT INTO author VALUES (1, 'Ä ''q'' \\ ü', '1999-12-31', x'00ff27'), (2, NULL, NULL, NULL);
INSERT INTO book VALUES (1, 1, 'one\nline', 1.50), (2, 2, '', NULL);
CREATE VIEW cheap AS SELECT id, title FROM book WHERE price < 5;
CREATE TRIGGER trimmed BEFORE INSERT ON author FOR EACH ROW SET NEW.name = TRIM(NEW.name);
DELIMITER //
CREATE PROCEDURE count_books(OUT n INT) BEGIN SELECT COUNT(*) INTO n FROM book; END //
CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n //
DELIMITER ;
`

func TestADumpOfUndeclaredTables(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{Spanning: txn.Multi})
		dump, client := programs(t, engine)
		first := s.Servers[0]
		proxy, shard := place(s.Addr, shop.User, shop.Password), place(first.Addr(), first.User, first.Password)
		name := s.Schema + "_plain"
		proxy.run(t, fmt.Appendf(nil, plain, name), client)
		t.Cleanup(func() {
			for _, server := range s.Servers {
				if err := server.Execute(context.WithoutCancel(t.Context()), "DROP DATABASE IF EXISTS "+name); err != nil {
					t.Error(err)
				}
			}
		})
		for _, options := range [][]string{
			{}, {"--single-transaction"}, {"--quick", "--skip-opt"}, {"--routines", "--triggers", "--events"}, {"--no-data"}, {"--complete-insert", "--hex-blob"},
		} {
			args := append(options, "--databases", name)
			direct := args
			if engine == servers.MySQL { // through the proxy there are no GTIDs
				direct = append([]string{"--set-gtid-purged=OFF"}, args...)
			}
			same(t, strings.Join(args, " "), proxy.run(t, nil, dump, args...), shard.run(t, nil, dump, direct...))
		}
		whole := []string{"--routines", "--databases", name}
		before := proxy.run(t, nil, dump, whole...)
		proxy.run(t, nil, client, "-e", "DROP DATABASE "+name)
		proxy.run(t, before, client)
		same(t, "dumped, dropped and loaded", proxy.run(t, nil, dump, whole...), before)
	})
}

func TestADumpOfShardedTables(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{Spanning: txn.XA})
		dump, client := programs(t, engine)
		proxy := place(s.Addr, shop.User, shop.Password)
		var inserts strings.Builder
		for buyer := range 40 {
			fmt.Fprintf(&inserts, "INSERT INTO test_order (buyer_uid, amount, status) VALUES (%d, %d.5, 'it''s');\n", buyer, buyer)
		}
		inserts.WriteString("INSERT INTO product VALUES (1, 'tea', 1.5), (2, 'cup', 3);\n")
		proxy.run(t, []byte(inserts.String()), client, s.Schema)
		for _, options := range [][]string{{}, {"--single-transaction", "--quick"}} {
			args := append(options, "--no-create-info", s.Schema)
			before := contents(t, s)
			text := proxy.run(t, nil, dump, args...)
			for _, server := range s.Servers {
				server.Exec(t, "DELETE FROM "+s.Schema+".test_order", "DELETE FROM "+s.Schema+".product")
			}
			proxy.run(t, text, client, s.Schema)
			if after := contents(t, s); after != before {
				t.Errorf("%v: the shards had\n%s\nand have\n%s", options, before, after)
			}
		}
	})
}

// A dump with definitions, which drops and creates each table, restores every row on its shard: in the cluster
// from which it was taken, and in a cluster without the tables.
func TestADumpWithDefinitions(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{
			Spanning: txn.XA,
			Tables: []string{
				"CREATE TABLE {schema}.visit (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, owner BIGINT NOT NULL, note VARCHAR(20), KEY (owner), " + catalog.OwnGeneDefinition + ") DEFAULT CHARSET utf8mb4",
			},
			Declarations: "  {schema}.visit: {kind: sharded, owner: owner}\n",
		})
		dump, client := programs(t, engine)
		proxy := place(s.Addr, shop.User, shop.Password)
		var inserts strings.Builder
		for buyer := range 40 {
			fmt.Fprintf(&inserts, "INSERT INTO test_order (buyer_uid, amount, status) VALUES (%d, %d.5, 'it''s');\nINSERT INTO visit (owner, note) VALUES (%d, 'a'), (%d, NULL);\n", buyer, buyer, buyer, buyer+1)
		}
		inserts.WriteString("INSERT INTO product VALUES (1, 'tea', 1.5), (2, 'cup', 3);\nINSERT INTO setting VALUES ('a', 'b');\nINSERT INTO counted (note) VALUES ('x');\n")
		proxy.run(t, []byte(inserts.String()), client, s.Schema)
		const visits = "SELECT CONCAT_WS(' ', id, owner, locus_gene, note) FROM visit"
		was, checksums := contents(t, s, visits), proxy.run(t, nil, client, s.Schema, "-e", "CHECKSUM TABLE test_order, product; CHECKSUM TABLE setting, counted")
		text := proxy.run(t, nil, dump, s.Schema)
		if bytes.Contains(text, []byte(catalog.OwnGene)) {
			t.Error("the dump has the column for the gene")
		}
		for _, over := range []string{"what it was taken from", "a cluster without tables"} {
			if over != "what it was taken from" {
				for i, server := range s.Servers {
					server.Exec(t, "DROP TABLE "+s.Schema+".test_order", "DROP TABLE "+s.Schema+".order_item", "DROP TABLE "+s.Schema+".product", "DROP TABLE "+s.Schema+".visit")
					if i == 0 {
						server.Exec(t, "DROP TABLE "+s.Schema+".setting", "DROP TABLE "+s.Schema+".counted")
					}
				}
			}
			proxy.run(t, text, client, s.Schema)
			if now := contents(t, s, visits); now != was {
				t.Errorf("over %s: the shards had\n%s\nand have\n%s", over, was, now)
			}
			if now := proxy.run(t, nil, client, s.Schema, "-e", "CHECKSUM TABLE test_order, product; CHECKSUM TABLE setting, counted"); !bytes.Equal(now, checksums) {
				t.Errorf("over %s: the checksums were\n%s\nand are\n%s", over, checksums, now)
			}
		}
		proxy.run(t, []byte("INSERT INTO visit (owner, note) VALUES (7, 'new');"), client, s.Schema)
		if last := strings.Fields(string(proxy.run(t, nil, client, s.Schema, "-N", "-e", "SELECT MAX(id), COUNT(*) FROM visit"))); len(last) != 2 || last[0] != "81" || last[1] != "81" {
			t.Errorf("the last number and the number of rows are %v", last)
		}
	})
}

// contents returns the rows of every shard, and the results of further queries.
func contents(t *testing.T, s *shop.Shop, further ...string) string {
	t.Helper()
	var b strings.Builder
	for i := range s.Servers {
		rows, err := s.Shard(t, i).Query("SELECT CONCAT_WS(' ', order_id, order_no, buyer_uid, amount, status, version, created_at) AS r FROM test_order UNION ALL SELECT CONCAT_WS(' ', product_id, name, price) FROM product " +
			strings.Join(append([]string{""}, further...), " UNION ALL ") + " ORDER BY r")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "s%d\n", i)
		for rows.Next() {
			var row string
			if err := rows.Scan(&row); err != nil {
				t.Fatal(err)
			}
			b.WriteString(row + "\n")
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
