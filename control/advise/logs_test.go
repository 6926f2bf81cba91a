package advise

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const mariadbSlow = `/usr/sbin/mariadbd, Version: 10.11.6-MariaDB-log (Debian 12). started with:
Tcp port: 3306  Unix socket: /run/mysqld/mysqld.sock
Time		    Id Command	Argument
# Time: 260301 10:00:00
# User@Host: app[app] @ localhost []
# Thread_id: 8  Schema: shop  QC_hit: No
# Query_time: 0.250000  Lock_time: 0.000010  Rows_sent: 1  Rows_examined: 1
# Rows_affected: 0  Bytes_sent: 60
use shop;
SET timestamp=1772359200;
SELECT * FROM orders
# not a head, a comment
WHERE id = 1;
# User@Host: app[app] @ localhost []
# Thread_id: 8  Schema:   QC_hit: No
# Query_time: 0.500000  Lock_time: 0.000010  Rows_sent: 1  Rows_examined: 1
SET timestamp=1772359200;
SELECT 1;
`

const mysqlSlow = `/usr/sbin/mysqld, Version: 9.7.0 (MySQL Community Server - GPL). started with:
Tcp port: 3306  Unix socket: /tmp/mysql.sock
Time                 Id Command    Argument
# Time: 2026-03-01T10:00:00.000000Z
# User@Host: app[app] @ localhost []  Id:     8
# Query_time: 0.250000  Lock_time: 0.000010 Rows_sent: 1  Rows_examined: 1
use shop;
SET timestamp=1772359200;
SELECT * FROM orders
# not a head, a comment
WHERE id = 1;
# Time: 2026-03-01T10:00:01.000000Z
# User@Host: app[app] @ localhost []  Id:     8
# Query_time: 0.500000  Lock_time: 0.000010 Rows_sent: 1  Rows_examined: 1
SET timestamp=1772359201;
SELECT 1;
# Time: 2026-03-01T10:00:02.000000Z
# User@Host: app[app] @ localhost []  Id:     8
# Query_time: 0.000100  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1772359201;
# administrator command: Prepare;
`

const mariadbGeneral = "/usr/sbin/mariadbd, Version: 10.11.6-MariaDB-log (Debian 12). started with:\nTcp port: 3306  Unix socket: /run/mysqld/mysqld.sock\nTime\t\t    Id Command\tArgument\n" +
	"260301 10:00:00\t     8 Connect\tapp@localhost on shop using Socket\n\t\t     8 Query\tSELECT * FROM orders\n# a comment\nWHERE id = 1\n" +
	"260301  9:00:01\t     9 Connect\tapp@localhost on  using TCP/IP\n\t\t     9 Init DB\tother\n\t\t     9 Query\tSELECT 1\n\t\t     9 Quit\t\n\t\t     8 Prepare\tSELECT ?\n\t\t     8 Execute\tSELECT 1\n"

const mysqlGeneral = "/usr/sbin/mysqld, Version: 9.7.0 (MySQL Community Server - GPL). started with:\nTcp port: 3306  Unix socket: /tmp/mysql.sock\nTime                 Id Command    Argument\n" +
	"2026-03-01T10:00:00.000000Z\t    8 Connect\tapp@localhost on shop using Socket\n2026-03-01T10:00:00.000000Z\t    8 Query\tSELECT * FROM orders\n# a comment\nWHERE id = 1\n" +
	"2026-03-01T10:00:01.000000Z\t    9 Connect\tapp@localhost on  using TCP/IP\n2026-03-01T10:00:01.000000Z\t    9 Query\tUSE other\n2026-03-01T10:00:01.000000Z\t    9 Query\tSELECT 1\n" +
	"2026-03-01T10:00:01.000000Z\t    9 Quit\t\n2026-03-01T10:00:01.000000Z\t    8 Prepare\tSELECT ?\n2026-03-01T10:00:01.000000Z\t    8 Execute\tSELECT 1\n"

// lines returns the digests of a workload as lines.
func digestLines(w *Workload) string {
	var list []string
	for _, d := range w.Digests() {
		list = append(list, fmt.Sprintf("%s: %s: %d in %.2f", d.Database, strings.Join(strings.Fields(d.Text), " "), d.Count, d.Seconds))
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

func TestLogs(t *testing.T) {
	general := "other: SELECT ?: 1 in 0.00\nshop: SELECT * FROM orders WHERE id = ?: 1 in 0.00\nshop: SELECT ?: 1 in 0.00"
	for _, test := range []struct {
		name   string
		format Format
		text   string
		want   string
	}{
		{"MariaDB's slow log", SlowLog, mariadbSlow, "shop: SELECT * FROM orders WHERE id = ?: 1 in 0.25\nshop: SELECT ?: 1 in 0.50"},
		{"MySQL's slow log", SlowLog, mysqlSlow, "shop: SELECT * FROM orders WHERE id = ?: 1 in 0.25\nshop: SELECT ?: 1 in 0.50"},
		{"MariaDB's general log", GeneralLog, mariadbGeneral, general},
		{"MySQL's general log", GeneralLog, mysqlGeneral, general},
		{"Windows' line ends", SlowLog, strings.ReplaceAll(mysqlSlow, "\n", "\r\n"), "shop: SELECT * FROM orders WHERE id = ?: 1 in 0.25\nshop: SELECT ?: 1 in 0.50"},
		{"a reopened log", SlowLog, mysqlSlow + mysqlSlow, "shop: SELECT * FROM orders WHERE id = ?: 2 in 0.50\nshop: SELECT ?: 2 in 1.00"},
		{"the end of a log is missing", SlowLog, mysqlSlow[:strings.Index(mysqlSlow, "WHERE")], "shop: SELECT * FROM orders: 1 in 0.25"},
		{
			"statements", Statements, "SELECT 1; SELECT 'a;b';\n-- a comment\nUSE `x`;\nSELECT *\nFROM t;\n\n;;SELECT 2",
			"x: SELECT * FROM t: 1 in 0.00\nx: SELECT ?: 1 in 0.00\ndb: SELECT ?: 2 in 0.00",
		},
		{"text that ends within a string", Statements, "SELECT 'a\n", "db: (a quoted string, name or comment does not end): 1 in 0.00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var packed bytes.Buffer
			pack := gzip.NewWriter(&packed)
			_, _ = pack.Write([]byte(test.text))
			_ = pack.Close()
			for _, text := range []string{test.text, packed.String()} {
				w := NewWorkload()
				if err := w.Read(strings.NewReader(text), test.format, "db", "the log"); err != nil {
					t.Fatal(err)
				}
				want := strings.Split(test.want, "\n")
				slices.Sort(want)
				if got := digestLines(w); got != strings.Join(want, "\n") {
					t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
				}
			}
		})
	}
}

// Logs with pieces that are missing, repeated or replaced by any bytes are read to their end, and their statements are planned.
func TestBrokenLogs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	s := readFixture(t, "shop.schema")
	for range 400 {
		for format, texts := range map[Format][]string{SlowLog: {mariadbSlow, mysqlSlow}, GeneralLog: {mariadbGeneral, mysqlGeneral}, Statements: {adviseStatements}} {
			text := []byte(strings.ReplaceAll(strings.Repeat(texts[random.IntN(len(texts))], 3), "shop", "db"))
			for range 1 + random.IntN(8) {
				at, n := random.IntN(len(text)), random.IntN(40)
				end := min(len(text), at+n)
				switch random.IntN(3) {
				case 0:
					text = slices.Delete(text, at, end)
				case 1:
					text = slices.Insert(text, at, text[at:end]...)
				default:
					for i := at; i < end; i++ {
						text[i] = byte(random.IntN(256))
					}
				}
				if len(text) == 0 {
					text = []byte("x")
				}
			}
			w := NewWorkload()
			if err := w.Read(bytes.NewReader(text), format, "db", "the log"); err != nil && !strings.Contains(err.Error(), "has no entry") && !strings.Contains(err.Error(), "gzip") {
				t.Fatal(err)
			}
			r, err := Evaluate(s, w, &Proposal{Shards: 2, Tables: map[string]*Table{"db.orders": {Declare: "owner=user_id"}}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var total uint64
			for _, f := range r.Ways {
				total += f.Count
			}
			if total != r.Statements {
				t.Fatalf("%d statements run in some way, of %d", total, r.Statements)
			}
			r.Print(&bytes.Buffer{})
		}
	}
}

const adviseStatements = "SELECT * FROM orders WHERE user_id = 1;\nSELECT o.id FROM orders o JOIN users u ON u.id = o.user_id WHERE u.email = 'x';\nINSERT INTO orders VALUES (1, 2, 'r', 4, 5, NOW());\n"

// A line of any length is cut, and a text that is too long is counted.
func TestLongTexts(t *testing.T) {
	w := NewWorkload()
	long := "SELECT '" + strings.Repeat("x", 3<<20) + "';\nSELECT 1;\nSELECT " + strings.Repeat("1,\n", 1<<20) + "1;\n"
	if err := w.Read(strings.NewReader(long), Statements, "db", "file"); err != nil {
		t.Fatal(err)
	}
	if len(w.Notes) != 1 || !strings.Contains(w.Notes[0], "1 lines are longer") {
		t.Errorf("notes %q", w.Notes)
	}
	r, err := Evaluate(readFixture(t, "shop.schema"), w, &Proposal{Shards: 2}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Statements < 3 {
		t.Errorf("%d statements", r.Statements)
	}
}

// Digests that are too many are counted together.
func TestTooManyDigests(t *testing.T) {
	w := NewWorkload()
	for i := range mostDigests + 5 {
		w.Add("db", fmt.Sprintf("SELECT a%d FROM t", i), 0)
	}
	if len(w.digests) != mostDigests || w.Others != 5 {
		t.Errorf("%d digests, %d others", len(w.digests), w.Others)
	}
}

// Samples are bounded in number and bytes, and chosen among all executions.
func TestSamples(t *testing.T) {
	w := NewWorkload()
	for i := range 1000 {
		w.Add("db", fmt.Sprintf("SELECT * FROM t WHERE id = %d", i), 0)
	}
	d := w.Digests()[0]
	late := slices.ContainsFunc(d.samples, func(s string) bool {
		return len(s) == len("SELECT * FROM t WHERE id = 999") && s > "SELECT * FROM t WHERE id = 500"
	})
	if len(d.samples) != mostSamples || !late {
		t.Errorf("%q", d.samples)
	}
	w.bytes = mostBytes
	w.Add("db", "SELECT 1 FROM t", 0)
	w.Add("db", "SELECT 1 FROM t", 0)
	if n := len(w.Digests()[1].samples); n > 1 {
		t.Errorf("%d samples beyond the limit", n)
	}
}

func TestRestoredDigests(t *testing.T) {
	s := readFixture(t, "shop.schema")
	for _, test := range []struct{ digest, want string }{
		{"SELECT * FROM `users` WHERE `id` IN (...)", "SELECT * FROM `users` WHERE `id` IN (?, ?)"},
		{"INSERT INTO `carts` ( `user_id` , `product_id` , `qty` ) VALUES (...)", "INSERT INTO `carts` ( `user_id` , `product_id` , `qty` ) VALUES (?, ?, ?)"},
		{"INSERT INTO `carts` VALUES (...) /* , ... */", "INSERT INTO `carts` VALUES (?, ?, ?) /* , ... */"},
		{"INSERT INTO `db` . `carts` VALUES (...)", "INSERT INTO `db` . `carts` VALUES (?, ?, ?)"},
		{"REPLACE INTO `nothing` VALUES (...)", "REPLACE INTO `nothing` VALUES (?)"},
		{"SELECT COUNT ( * ) FROM `users`", "SELECT COUNT ( * ) FROM `users`"},
		{"VALUES (...)", "VALUES (?)"},
		{"SELECT * FROM USERS WHERE ID = ?", "SELECT * FROM `users` WHERE ID = ?"},
		{"SELECT USERS . `name` , COUNT ( * ) FROM `db` . USERS , CARTS AS C", "SELECT `users` . `name` , COUNT ( * ) FROM `db` . `users` , `carts` AS C"},
		{"INSERT INTO CARTS VALUES (...)", "INSERT INTO `carts` VALUES (?, ?, ?)"},
	} {
		if got := s.restored("db", test.digest); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.digest, got, test.want)
		}
	}
}

// Variables in digests are read as variables.
func TestVariablesInDigests(t *testing.T) {
	w := NewWorkload()
	for _, digest := range []string{"SELECT @ `a`", "SET @ @ SESSION . `sql_mode` = ?", "SELECT @ @ `version` , @ @ GLOBAL . `port`"} {
		w.AddDigest("db", digest, "", 1, 0)
	}
	if got, want := digestLines(w), "db: SELECT @@`version` , @@GLOBAL.`port`: 1 in 0.00\ndb: SELECT @`a`: 1 in 0.00\ndb: SET @@SESSION.`sql_mode` = ?: 1 in 0.00"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r, err := Evaluate(readFixture(t, "shop.schema"), w, &Proposal{Shards: 2}, Options{})
	if err != nil || r.Reasons != nil {
		t.Errorf("%v: %+v", err, r)
	}
}

// Statements of which only the digest is known are planned with values of the right kind.
func TestDigestsWithoutValues(t *testing.T) {
	s := readFixture(t, "shop.schema")
	p := &Proposal{Shards: 4, Tables: map[string]*Table{"db.users": {Declare: "owner=id"}, "db.orders": {Declare: "owner=user_id"}, "db.carts": {Declare: "owner=user_id"}}}
	for _, test := range []struct{ digest, want string }{
		{"SELECT * FROM `users` WHERE `id` = ?", "owner"},
		{"SELECT * FROM `users` WHERE `id` = ? LIMIT ?", "owner"},
		{"SELECT * FROM `users` WHERE `id` IN (...)", "some"},
		{"SELECT COUNT ( * ) FROM `users` WHERE `email` = ?", "all"},
		{"SELECT `o` . `id` FROM `orders` `o` JOIN `users` `u` ON `u` . `id` = `o` . `user_id` WHERE `u` . `id` = ?", "owner"},
		{"SELECT * FROM `orders` `o` , `users` `u` WHERE `u` . `id` = ? AND `o` . `user_id` = ?", "owner"},
		{"INSERT INTO `carts` VALUES (...)", "owner"},
		{"INSERT INTO `carts` ( `user_id` , `product_id` , `qty` ) VALUES (...) /* , ... */", "owner"},
		{"INSERT INTO `orders` ( `reference` ) VALUES (?)", "refused"},
		{"UPDATE `orders` SET `status` = ? WHERE `id` = ?", "all"},
		{"SELECT * FROM `users` WHERE `id` = ? AND ...", "unread"},
	} {
		w := NewWorkload()
		w.AddDigest("db", test.digest, "", 10, 1)
		r, err := Evaluate(s, w, p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Ways) != 1 || string(r.Ways[0].Way) != test.want || r.Ways[0].Count != 10 {
			t.Errorf("%s: %+v %+v, want %s", test.digest, r.Ways, r.Reasons, test.want)
		}
	}
}

// A schema of 5,000 tables, with foreign keys between most of them, has a proposal.
func TestManyTables(t *testing.T) {
	var schema strings.Builder
	w := NewWorkload()
	for i := range 5000 {
		fmt.Fprintf(&schema, "table t%d rows=100\n  id bigint auto\n  t%d_id bigint\n  name varchar 20 utf8mb4_bin\n  primary id\n  ref t%[2]d_id t%[2]d id\n", i, i/10)
		addExecutions(w, 20, 0.1, fmt.Sprintf("SELECT a.name FROM t%d a JOIN t%d b ON b.id = a.t%[2]d_id WHERE a.id = {n}", i, i/10))
	}
	s := schemaOf(t, schema.String())
	_, r := reported(t, s, w, Options{Shards: 4})
	if len(r.Digests) != 5000 || r.Statements != 100_000 {
		t.Errorf("%d digests, %d statements", len(r.Digests), r.Statements)
	}
}
