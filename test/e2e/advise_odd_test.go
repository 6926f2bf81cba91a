package e2e

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"locus/control/advise"
	"locus/internal/test/servers"
	"locus/proxy/backend"
	"locus/proxy/schema"
)

// oddities are tables, views and programs that a proposal must cope with.
var oddities = []string{
	"CREATE DATABASE `odd db`",
	"CREATE DATABASE shop",
	"CREATE TABLE shop.account (uuid CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL PRIMARY KEY, name VARCHAR(20)) PARTITION BY KEY (uuid) PARTITIONS 3",
	"CREATE TABLE shop.bill (no INT NOT NULL, uuid CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL, twice INT AS (no * 2), PRIMARY KEY (no), KEY (uuid))",
	"CREATE TABLE shop.bill_line (no INT NOT NULL, n INT NOT NULL, PRIMARY KEY (no, n), CONSTRAINT bill FOREIGN KEY (no) REFERENCES shop.bill (no) ON DELETE CASCADE)",
	"CREATE TABLE shop.tree (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, parent INT, CONSTRAINT up FOREIGN KEY (parent) REFERENCES shop.tree (id))",
	"CREATE TABLE shop.`a.b` (id INT NOT NULL PRIMARY KEY, `x``y` INT, KEY (`x``y`))",
	"CREATE TABLE `odd db`.`the table` (id INT NOT NULL PRIMARY KEY)",
	"CREATE TABLE shop.keyless (a INT, b TEXT)",
	"CREATE TABLE shop.pair (account_uuid CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL, day DATE NOT NULL, UNIQUE KEY (account_uuid, day), UNIQUE KEY (day))",
	"CREATE VIEW shop.bills AS SELECT b.no, a.name, b.uuid FROM shop.bill b JOIN shop.account a ON a.uuid = b.uuid",
	"CREATE VIEW shop.trees AS SELECT id FROM shop.tree",
	"CREATE TRIGGER shop.watch BEFORE INSERT ON shop.keyless FOR EACH ROW SET NEW.b = UPPER(NEW.b)",
	"CREATE PROCEDURE shop.count_bills() SELECT COUNT(*) FROM shop.bill",
	"CREATE FUNCTION shop.one() RETURNS INT DETERMINISTIC RETURN 1",
}

// oddStatements are run in shop.
var oddStatements = []string{
	"INSERT INTO account VALUES ('a', 'x'), ('b', 'y')",
	"INSERT INTO bill (no, uuid) VALUES (1, 'a'), (2, 'b')",
	"INSERT INTO bill_line VALUES (1, 1), (1, 2)",
	"SELECT * FROM bills WHERE uuid = 'a'", "SELECT * FROM bills WHERE uuid = 'b'", "SELECT COUNT(*) FROM trees",
	"SELECT * FROM account WHERE uuid = 'a'", "SELECT * FROM account WHERE uuid = 'b'", "SELECT * FROM account WHERE uuid = 'c'",
	"SELECT b.no, a.name FROM bill b JOIN account a USING (uuid) WHERE b.uuid = 'a'",
	"SELECT l.n FROM bill b JOIN bill_line l ON l.no = b.no WHERE b.uuid = 'a'",
	"SELECT shop.one()", "CALL count_bills()",
	"SELECT * FROM `a.b` WHERE `x``y` = 1", "SELECT * FROM `odd db`.`the table` WHERE id IN (1, 2)",
	"INSERT INTO keyless VALUES (1, 'x')", "INSERT INTO tree VALUES (1, NULL), (2, 1)",
	"SELECT t.id FROM tree t JOIN tree u ON u.id = t.parent WHERE t.id = 2",
	"WITH RECURSIVE up AS (SELECT id, parent FROM tree WHERE id = 2 UNION ALL SELECT t.id, t.parent FROM tree t JOIN up ON up.parent = t.id) SELECT * FROM up",
	"SELECT /*!40001 SQL_NO_CACHE */ * FROM account", "SELECT /*+ MAX_EXECUTION_TIME(1000) */ COUNT(*) FROM account", "-- a comment\nSELECT 1 /* and more",
	"SET @a = 1", "SELECT @a, @@version", "PREPARE s FROM 'SELECT * FROM account WHERE uuid = ?'", "EXECUTE s USING @a", "DEALLOCATE PREPARE s",
	"UPDATE account SET name = 'z' WHERE uuid IN ('a', 'b')", "DELETE l FROM bill_line l JOIN bill b ON b.no = l.no WHERE b.uuid = 'q'",
	"REPLACE INTO pair VALUES ('a', '2026-01-01')", "INSERT IGNORE INTO pair SELECT uuid, '2026-01-02' FROM account WHERE uuid = 'a'",
	"SELECT '" + strings.Repeat("long ", 2000) + "' FROM account WHERE uuid = 'a'", "SELECT 1 FROM account WHERE uuid IN ('" + strings.Repeat("v', '", 1500) + "')",
	"CREATE TABLE made (id INT)", "DROP TABLE made", "ANALYZE TABLE account", "SHOW TABLES", "EXPLAIN SELECT * FROM account",
	"START TRANSACTION", "COMMIT", "LOCK TABLES account READ", "UNLOCK TABLES", "SELECT DATABASE()", "SELECT nothing FROM account", "SELEC 1",
}

// Schemas with all kinds of objects, and statements of all kinds, are read and reported, by every source, and by accounts that see little.
func TestAdviceOnOddSchemas(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Start(t, engine, 1, "--performance-schema=ON")[0]
		server.Exec(t, oddities...)
		server.Exec(t, "CREATE USER narrow@'%' IDENTIFIED BY '"+server.Password+"'", "GRANT SELECT ON shop.account TO narrow@'%'",
			"CREATE USER blind@'%' IDENTIFIED BY '"+server.Password+"'", "GRANT SELECT ON shop.* TO blind@'%'", "GRANT SELECT ON performance_schema.* TO narrow@'%'")
		db := server.DB(t, "shop")
		db.SetMaxOpenConns(1)
		for _, statement := range oddStatements {
			_, _ = db.ExecContext(t.Context(), statement) // some fail
		}
		query := func(user string) schema.Querier {
			pool := backend.NewPool(backend.Target{Addr: server.Addr(), User: user, Password: func() (string, error) { return server.Password, nil }},
				backend.Limits{MaxOpen: 1}, slog.New(slog.DiscardHandler))
			t.Cleanup(func() { _ = pool.Close(context.Background()) })
			return schema.Pooled{Pool: pool}
		}
		for _, account := range []string{server.User, "narrow"} {
			t.Run(account, func(t *testing.T) {
				s, err := advise.ReadSchema(t.Context(), query(account))
				if err != nil {
					t.Fatal(err)
				}
				digests, logged := advise.NewWorkload(), advise.NewWorkload()
				if err := digests.ReadDigests(t.Context(), query(account), "server"); err != nil {
					t.Fatal(err)
				}
				if err := logged.Read(strings.NewReader("USE shop;\n"+strings.Join(oddStatements, ";\n")+";\n"), advise.Statements, "", "file"); err != nil {
					t.Fatal(err)
				}
				for _, w := range []*advise.Workload{digests, logged} {
					for _, options := range []advise.Options{{Shards: 2}, {Shards: 200, KeepColumns: true, ScatterWrites: true}} {
						r := reportOdd(t, s, w, options)
						if saw := len(r.Notes) == 0; saw != (account == server.User) {
							t.Errorf("notes %q", r.Notes)
						}
					}
				}
			})
		}
		t.Run("blind", func(t *testing.T) {
			err := advise.NewWorkload().ReadDigests(t.Context(), query("blind"), "server")
			if err == nil || !strings.Contains(err.Error(), "GRANT SELECT ON performance_schema.* TO the account, or give the statements in a file: --slow-log, --general-log or --statements") {
				t.Errorf("%v", err)
			}
		})
	})
}

// reportOdd proposes, writes and reads the proposal, and reports.
func reportOdd(t *testing.T, s *advise.Schema, w *advise.Workload, options advise.Options) *advise.Report {
	t.Helper()
	p, err := advise.Propose(s, w, options)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := advise.ReadProposal(text, s)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	r, err := advise.Evaluate(s, w, again, options)
	if err != nil {
		t.Fatal(err)
	}
	var total uint64
	for _, f := range r.Ways {
		total += f.Count
	}
	if total != r.Statements || len(r.Digests) < 30 {
		t.Errorf("%d statements of %d digests, %d run in some way", r.Statements, len(r.Digests), total)
	}
	for _, reason := range r.Reasons {
		if strings.Contains(reason.Why, "letter case") {
			t.Errorf("%s: %s", reason.Example, reason.Why)
		}
	}
	r.Print(&bytes.Buffer{})
	return r
}
