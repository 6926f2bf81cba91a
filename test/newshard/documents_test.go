package newshard

import (
	"database/sql"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"locus/config/etcd"
	"locus/internal/test/servers"
	"locus/test/product"
)

func (c *stand) put(kv *etcd.KV, key, value string) {
	c.t.Helper()
	if _, err := kv.Commit(c.t.Context(), nil, etcd.Put(key, []byte(value))); err != nil {
		c.t.Fatal(err)
	}
}

// commands are the commands that only read.
var commands = []string{
	"get", "table list", "user list", "shard list", "routes show", "routes history", "jobs", "proxies list", "generators", "documents list", "verify", "hot", "keys status", "split --from s0 --to s1 --half --dry-run",
}

// all runs every command that only reads.
func (c *stand) all(when string) {
	c.t.Helper()
	for _, command := range commands {
		c.t.Log(when, command)
		if out, err := c.Locus(strings.Fields(command)...); err != nil {
			c.t.Errorf("%s: locus %s: %v\n%s", when, command, err, out)
		}
	}
	if out, err := c.Locus("doctor"); err != nil && !strings.Contains(out, "remedy:") {
		c.t.Errorf("%s: doctor: %v\n%s", when, err, out)
	}
}

func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// fails runs a statement that must be refused with all of these texts.
func fails(t *testing.T, db *sql.DB, statement string, texts ...string) {
	t.Helper()
	_, err := db.Exec(statement)
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", statement, err, text)
		}
	}
}

// names are pairs of a schema and a table that servers accept, quoted.
var names = []string{
	"`shop`.`x y`", "`shop`.` x`", "`shop`.`a.b`", "`shop`.`a``b`", "`shop`.`it's`", "`shop`.`say \"x\"`", "`shop`.`a/b`", "`shop`.`a%2Fb`", "`shop`.`größe`", "`shop`.`a;b`", "`shop`.`a,b`", "`shop`.`a=b`", "`shop`.`X y`",
	"`a.b`.`c`", "`a b`.`c d`", "`a/b`.`c`", "`shop`.`" + strings.Repeat("n", 64) + "`",
}

// oddNames declares tables of odd names by statements of a user without admin, and uses them.
func (c *stand) oddNames(db *sql.DB) {
	t := c.t
	execute(t, db, "CREATE DATABASE `a.b`", "CREATE DATABASE `a b`", "CREATE DATABASE `a/b`")
	for i, name := range names {
		t.Log(name)
		execute(t, db, "CREATE TABLE "+name+" (id INT PRIMARY KEY) COMMENT 'locus: global'", "INSERT INTO "+name+" VALUES (1), (2)", "UPDATE "+name+" SET id = 7 WHERE id = 2")
		if got := rows(t, db, "SELECT * FROM "+name+" ORDER BY id"); got != "\"1\" \n\"7\" \n" {
			t.Errorf("%s has %s", name, got)
		}
		for _, s := range c.servers[:2] {
			if got := rows(t, s.DB(t, ""), "SELECT COUNT(*) FROM "+name); got != "\"2\" \n" {
				t.Errorf("%s on a shard has %s", name, got)
			}
		}
		if out, err := c.Locus("table", "show", name); err != nil {
			t.Errorf("table show %s: %v %s", name, err, out)
		}
		if i%2 == 0 {
			execute(t, db, "DROP TABLE "+name)
			if out, err := c.Locus("table", "drop", name, "--yes"); err != nil {
				t.Errorf("table drop %s: %v %s", name, err, out)
			}
		}
	}
	fails(t, db, "CREATE TABLE shop.`a\nb` (id INT PRIMARY KEY) COMMENT 'locus: global'", "control character")
	execute(t, db, "CREATE TABLE shop.`odd t` (`the owner` BIGINT NOT NULL, `a;=,``b` BIGINT NOT NULL PRIMARY KEY, KEY (`the owner`)) COMMENT 'locus: owner=`the owner` id=`a;=,``b`; people read this'",
		"INSERT INTO shop.`odd t` (`the owner`) VALUES (1), (2), (3), (4)")
	if got := rows(t, db, "SELECT COUNT(*) FROM shop.`odd t`"); got != "\"4\" \n" {
		t.Errorf("a table with odd columns has %s", got)
	}
	c.all("with odd names")
}

// gone drops tables and a database. Their declarations must keep no command from running, and can be dropped.
func (c *stand) gone(db *sql.DB) {
	t := c.t
	execute(t, db, "CREATE DATABASE gone", "CREATE TABLE shop.t1 (owner BIGINT NOT NULL PRIMARY KEY) COMMENT 'locus: owner=owner'", "CREATE TABLE shop.t2 (owner BIGINT NOT NULL PRIMARY KEY) COMMENT 'locus: owner=owner'",
		"CREATE TABLE gone.t3 (owner BIGINT NOT NULL PRIMARY KEY) COMMENT 'locus: owner=owner'", "CREATE TABLE gone.t4 (owner BIGINT NOT NULL PRIMARY KEY) COMMENT 'locus: global'",
		"CREATE TABLE shop.t5 (owner BIGINT NOT NULL PRIMARY KEY) COMMENT 'locus: owner=owner'", "DROP TABLE shop.t1, shop.t2, shop.t5", "DROP DATABASE gone")
	c.all("with declarations of tables that are gone")
	c.MustLocus("table", "drop", "shop.t1", "--yes")
	c.MustLocus("table", "drop", "gone.t4", "--yes")
	execute(t, db, "CREATE TABLE shop.t2 (owner BIGINT NOT NULL PRIMARY KEY)", "INSERT INTO shop.t2 VALUES (1), (2), (3)")
}

// unreadable are documents that can't be used, by their keys: some under each prefix that is read.
var unreadable = map[string]string{
	"declared/tables/shop.p q": "schema: 1\nkind: global\n", "declared/tables/shop.nothere": "x", "declared/shards/s9": "", "declared/shards/a b": "[]", "declared/users/x y": "{", "declared/users/u": "schema: 9\n",
	"declared/generators/g": "null", "declared/primaries/s9": "42", "declared/renaming/shop.elsewhere": "x", "declared/counters/x": "x", "declared/whatever/x": "x", "declared/x\x01\xff": "x",
	"history/0000000099": "x", "history/x": "", "jobs/split-99": "{", "jobs/x y": "[]", "job_reports/split-99": "x", "job_differences/split-99": "x", "proxies/ghost": "x", "proxies/": "[]", "processes/ghost": "{\"id\": 7}",
	"failover/records/s0": "x", "failover/records/x y": "", "questions/pulse": "x", "questions/what": "x", "answers/pulse/ghost": "x", "answers/servers/ghost": "[]", "orders/ghost": "x", "segments/what": "x", "job_claims/x": "x", "switching/s9": "x",
	"declared/tables/big": strings.Repeat("x", 1<<20), "workers/0000": "x",
}

// TestDocuments writes documents that can't be used under every prefix of the cluster's keys. Commands, proxies and a split go on
// without them.
func TestDocuments(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		c := open(t, engine)
		db := c.db()
		execute(t, db, "INSERT INTO shop.ordered (owner, country) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1)", "INSERT INTO shop.region VALUES (1, 'x')")
		c.oddNames(db)
		c.gone(db)
		kv := c.KV
		for key, value := range unreadable {
			c.put(kv, key, value)
		}
		c.all("with unreadable documents")
		listen := c.Serve("second").Addr
		for _, db := range []*sql.DB{db, c.at(listen)} {
			if got := rows(t, db, "SELECT COUNT(*) FROM ordered"); got != "\"5\" \n" {
				t.Errorf("%s rows", got)
			}
			execute(t, db, "INSERT INTO region VALUES (2, 'y')", "DELETE FROM region WHERE id = 2")
		}
		execute(t, db, "CREATE TABLE shop.late (id INT PRIMARY KEY) COMMENT 'locus: global'", "INSERT INTO late VALUES (1)")
		c.refuses(kv, db, c.at(listen))
		c.MustLocus("split", "--from", "s0", "--to", "s1", "--genes", "0x0000-0x0fff")
		const id = "split-100" // the number after that of the unusable record
		c.MustLocus("wait", id)
		c.MustLocus("cutover", id, "--to", "100%", "--yes")
		c.MustLocus("wait", id, "--for", "cut")
		c.MustLocus("finish", id, "--yes")
		c.MustLocus("wait", id, "--for", "done")
		if got := rows(t, db, "SELECT COUNT(*) FROM ordered"); got != "\"5\" \n" {
			t.Errorf("after the split: %s rows", got)
		}
		c.removesAll()
		c.all("after all is removed")
	})
}

// refuses overwrites documents that statements need. These statements are refused, and all others are served.
func (c *stand) refuses(kv *etcd.KV, proxies ...*sql.DB) {
	t := c.t
	for key, needs := range map[string]struct{ refused, served string }{
		"declared/tables/shop.region":  {"SELECT * FROM region", "SELECT COUNT(*) FROM ordered"},
		"declared/tables/shop.ordered": {"SELECT COUNT(*) FROM ordered", "SELECT * FROM region"},
		"declared/shards/s1":           {"SELECT COUNT(*) FROM ordered", "SELECT * FROM region"},
		"declared/counters/shop.t2":    {"INSERT INTO t2 VALUES (77)", "SELECT COUNT(*) FROM ordered"},
	} {
		c.put(kv, key, "schema: 1\nkind: [")
		for _, db := range proxies {
			product.Eventually(t, key+" is seen", func() bool {
				_, err := db.Exec(needs.refused)
				return err != nil && strings.Contains(err.Error(), key)
			})
			if _, err := db.Exec(needs.served); err != nil {
				t.Errorf("%s without %s: %v", needs.served, key, err)
			}
		}
		if out, err := c.Locus("doctor"); err == nil || !strings.Contains(out, key) {
			t.Errorf("doctor says nothing of %s: %s", key, out)
		}
		if key == "declared/counters/shop.t2" {
			if _, err := kv.Commit(t.Context(), nil, etcd.Delete(key)); err != nil {
				t.Fatal(err)
			}
		} else if out, err := c.Locus("documents", "remove", key, "--yes"); (err == nil) != strings.Contains(key, "tables") {
			t.Errorf("documents remove %s: %v %s", key, err, out)
		} else if err == nil { // the removed document is written again; restore does so only for one that is there
			c.put(kv, key, map[string]string{"declared/tables/shop.region": "schema: 1\nkind: global\n", "declared/tables/shop.ordered": "schema: 1\nkind: sharded\nowner: owner\n"}[key])
		} else {
			c.MustLocus("documents", "restore", key, "--yes")
		}
		for _, db := range proxies {
			product.Eventually(t, key+" is back", func() bool {
				_, err := db.Exec(strings.ReplaceAll(needs.refused, "INSERT INTO t2 VALUES (77)", "DELETE FROM t2 WHERE owner = 77"))
				return err == nil
			})
		}
	}
	for _, key := range []string{"declared/map", "declared/settings"} {
		c.put(kv, key, "x")
		for _, db := range proxies { // they are running, and continue with the last documents
			if got := rows(t, db, "SELECT COUNT(*) FROM ordered"); got != "\"5\" \n" {
				t.Errorf("%s rows without %s", got, key)
			}
		}
		if out, err := c.Locus("split", "--from", "s0", "--to", "s1", "--half"); err == nil || !strings.Contains(out, key) && !strings.Contains(out, "owns no genes") {
			t.Errorf("a split without %s: %s", key, out)
		}
		c.MustLocus("documents", "restore", key, "--yes")
	}
}

// removesAll runs the remedy of every document that can't be used. None is left.
func (c *stand) removesAll() {
	t := c.t
	var list []struct{ Key, Remedy string }
	if err := json.Unmarshal([]byte(c.MustLocus("documents", "list", "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 20 {
		t.Errorf("%d documents can't be used", len(list))
	}
	for _, d := range list {
		_, command, is := strings.Cut(d.Remedy, "locus documents remove ")
		if raw, err := url.PathUnescape(d.Key); !is || command != d.Key || err != nil || strings.ContainsAny(d.Key, " \n`'\"&$*;") {
			t.Errorf("%q (%q): the remedy is %s", d.Key, raw, d.Remedy)
			continue
		}
		c.MustLocus("documents", "remove", command, "--yes")
	}
	if out := c.MustLocus("documents", "list"); !strings.Contains(out, "all documents can be used") {
		t.Error(out)
	}
}
