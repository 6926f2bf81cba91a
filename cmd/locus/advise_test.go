//go:build servers

package main

import (
	"context"
	"os"
	"testing"

	"locus/internal/test/servers"
)

// adviseStatements are the statements of an application.
const adviseStatements = `SELECT * FROM customer WHERE id = 7;
SELECT * FROM customer WHERE id = 8;
SELECT * FROM customer WHERE id = 9;
SELECT id, total FROM sale WHERE customer_id = 7;
SELECT id, total FROM sale WHERE customer_id = 8;
SELECT id, total FROM sale WHERE customer_id = 9;
INSERT INTO sale (customer_id, receipt, total) VALUES (7, 'a1', 10);
INSERT INTO sale_line (sale_id, qty) VALUES (1, 10);
SELECT s.id, l.qty FROM sale s JOIN sale_line l ON l.sale_id = s.id WHERE s.customer_id = 7;
SELECT MAX(total) FROM sale;
SELECT FROM sale;
`

// The command reads a schema and statements, writes a proposal, and evaluates the edited proposal.
func TestAdvise(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		t.Chdir(t.TempDir())
		if err := os.WriteFile("statements.sql", []byte(adviseStatements), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("junk.log", []byte("\x00\x01\xff\n\n# nothing\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		server.Exec(t,
			"CREATE DATABASE webshop",
			"CREATE TABLE webshop.customer (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20))",
			"CREATE TABLE webshop.sale (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, customer_id INT NOT NULL, receipt VARCHAR(20), total INT, "+
				"UNIQUE KEY receipt (receipt), KEY (customer_id), CONSTRAINT buyer FOREIGN KEY (customer_id) REFERENCES webshop.customer (id))",
			"CREATE TABLE webshop.sale_line (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, sale_id INT NOT NULL, qty INT, KEY (sale_id))",
			"CREATE USER advisor@'%' IDENTIFIED BY 's3cret'",
			"CREATE USER blind@'%' IDENTIFIED BY 's3cret'",
			"GRANT SELECT, SHOW VIEW, TRIGGER, EVENT ON webshop.* TO advisor@'%'",
			map[servers.Engine]string{servers.MariaDB: "GRANT SELECT ON mysql.proc TO advisor@'%'", servers.MySQL: "GRANT SHOW_ROUTINE ON *.* TO advisor@'%'"}[engine])
		t.Cleanup(func() {
			_ = server.Execute(context.Background(), "DROP DATABASE webshop", "DROP USER advisor@'%', blind@'%'")
		})
		play := transcript{words: map[string]string{"SERVER": server.Addr()}}
		play.steps = map[string]func(*testing.T, string){
			"edit": func(t *testing.T, line string) {
				text, err := os.ReadFile("proposal.yaml")
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(line, append(text, "    webshop.nothing:\n        declare: global\n    webshop.`:\n        declare: global\n"...), 0o600); err != nil {
					t.Fatal(err)
				}
			},
		}
		play.play(t, adviseTranscript)
	})
}

// adviseTranscript is absolute, because the test runs in another folder.
var adviseTranscript = func() string {
	folder, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return folder + "/testdata/advise.txt"
}()
