package session

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/proxy"
	"locus/proxy/sysvars"
	"locus/router/cluster"
	"locus/router/stmt"
	"locus/test/shop"
)

// cluster's tables as the test wants them.
type virtual struct {
	rows    [][]any
	emptied int // how often locus.statements was
}

func (v *virtual) Tables() []sysvars.VirtualTable {
	list := []sysvars.VirtualTable{{Name: "jobs", Columns: []sysvars.VirtualColumn{
		{Name: "id", Type: sysvars.VirtualText},
		{Name: "percent", Type: sysvars.VirtualNumber},
		{Name: "changes", Type: sysvars.VirtualInteger},
		{Name: "created", Type: sysvars.VirtualTime},
		{Name: "why", Type: sysvars.VirtualText},
	}}}
	for name := range stmt.OwnTables {
		if name != "jobs" {
			list = append(list, sysvars.VirtualTable{Name: name, Columns: []sysvars.VirtualColumn{{Name: "name", Type: sysvars.VirtualText}}})
		}
	}
	return list
}

func (v *virtual) Rows(_ context.Context, table string) ([][]any, error) {
	if table == "jobs" {
		return v.rows, nil
	}
	return nil, nil
}

func (v *virtual) Empty(_ context.Context, table string) error {
	if table != "statements" {
		return sysvars.ErrNotEmptied
	}
	v.emptied++
	return nil
}

func TestTheSchemaLocus(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC)
	v := &virtual{rows: [][]any{
		{"split-1", 12.5, int64(7), at, "it's \\ größer"},
		{"split-2", 0.0, int64(-3), time.Time{}, nil},
		{"merge-3", 100.0, int64(1 << 40), at.Add(time.Hour), "x"},
	}}
	pairs(t, shop.Options{Options: func(o *proxy.Options) { o.Virtual = v }}, func(t *testing.T, p *pair) {
		p.proxy.must(t, "CREATE TABLE note (job VARCHAR(64), what VARCHAR(64))")
		p.proxy.must(t, "INSERT INTO note VALUES ('split-1', 'mine')")
		for _, c := range []struct{ statement, want string }{
			{"SELECT * FROM locus.jobs", "id|percent|changes|created|why\nsplit-1|12.50|7|2026-03-04 05:06:07.089|it's \\ größer\nsplit-2|0.00|-3|NULL|NULL\n" +
				"merge-3|100.00|1099511627776|2026-03-04 06:06:07.089|x"},
			{"SELECT id FROM `locus`.`jobs` WHERE percent > 1 ORDER BY percent DESC LIMIT 1", "id\nmerge-3"},
			{"select count(*) as n, sum(j.changes + 3) as s from Locus . JOBS as j", "n|s\n3|1099511627789"},
			{"SELECT jobs.id, n.what FROM locus.jobs JOIN note n ON n.job = jobs.id", "id|what\nsplit-1|mine"},
			{"SELECT a.id FROM locus.jobs a JOIN locus.jobs b ON a.id = b.id AND a.changes < 0", "id\nsplit-2"},
			{"SELECT id FROM locus.jobs WHERE created < '2026-03-04 06:00:00' AND 'locus.jobs' <> why", "id\nsplit-1"},
			{"SELECT COUNT(*) AS n FROM locus.job_steps", "n\n0"},
			{"SELECT (SELECT MAX(percent) FROM locus.jobs) AS m", "m\n100.00"},
			{"SHOW TABLES FROM locus LIKE 'job%'", "Tables_in_locus\njob_differences\njob_steps\njobs"},
			{"SHOW FULL TABLES IN `locus` WHERE Tables_in_locus = 'jobs'", "Tables_in_locus|Table_type\njobs|SYSTEM VIEW"},
			{"SHOW COLUMNS FROM locus.jobs LIKE 'c%'", "Field|Type|Null|Key|Default|Extra\nchanges|bigint|YES||NULL|\ncreated|datetime(3)|YES||NULL|"},
			{"SHOW CREATE TABLE locus.shards", "Table|Create Table\nshards|CREATE TABLE `shards` (\n  `name` varchar(1024) DEFAULT NULL\n) COMMENT='answered by the proxy, in UTC'"},
			{"SHOW CREATE TABLE locus.nothing", "error 1146 (42S02)"},
			{"DESCRIBE locus.shards", "Field|Type|Null|Key|Default|Extra\nname|varchar(1024)|YES||NULL|"},
			{"DELETE FROM locus.jobs", "error 1288 (HY000)"},
			{"UPDATE locus.jobs SET why = 'x'", "error 1288 (HY000)"},
			{"INSERT INTO locus.jobs (id) VALUES ('x')", "error 1288 (HY000)"},
			{"CREATE TABLE locus.mine (a INT)", "error 1044 (42000)"},
			{"DROP DATABASE locus", "error 1044 (42000)"},
		} {
			if got := p.proxy.say(c.statement); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.statement, got, c.want)
			}
		}
		if got := p.proxy.say("SELECT id FROM locus.jobs WHERE changes > ? ORDER BY id", 0); got != "id\nmerge-3\nsplit-1" {
			t.Errorf("prepared: %s", got)
		}
		p.proxy.must(t, "INSERT INTO note SELECT id, why FROM locus.jobs WHERE id LIKE 'merge%'")
		if got := p.proxy.value(t, "SELECT COUNT(*) FROM note"); got != "2" {
			t.Errorf("INSERT … SELECT: %s rows", got)
		}
	})
}

// A user who selects the schema with USE can name its tables without it, and programs that list databases find
// them in the usual tables.
func TestWithinTheSchemaLocus(t *testing.T) {
	v := &virtual{rows: [][]any{{"split-1", 12.5, int64(7), time.Time{}, "jobs"}, {"split-2", 0.0, int64(-3), time.Time{}, nil}}}
	pairs(t, shop.Options{Options: func(o *proxy.Options) { o.Virtual = v }}, func(t *testing.T, p *pair) {
		home := p.proxy.value(t, "SELECT DATABASE()")
		p.proxy.must(t, "USE locus")
		columns := "Field|Type|Collation|Null|Key|Default|Extra|Privileges|Comment\n"
		for _, c := range []struct{ statement, want string }{
			{"SELECT DATABASE() AS d", "d\nlocus"},
			{"SELECT id FROM jobs WHERE why = 'jobs'", "id\nsplit-1"},
			{"SELECT `jobs`.id, b.why FROM `jobs` JOIN Jobs AS b ON b.id = jobs.id AND b.changes > 0", "id|why\nsplit-1|jobs"},
			{"SELECT id FROM (SELECT id, why AS jobs FROM jobs) x, shards WHERE x.jobs IS NULL", "id"},
			{"SELECT (SELECT COUNT(*) FROM jobs) + COUNT(*) AS n FROM locus.jobs", "n\n4"},
			{"WITH x AS (SELECT id FROM jobs) SELECT MIN(id) AS least FROM x", "least\nsplit-1"},
			{"SELECT id FROM jobs UNION ALL SELECT name FROM shards ORDER BY id DESC", "id\nsplit-2\nsplit-1"},
			{"WITH jobs AS (SELECT 1 AS id) SELECT id FROM jobs", "id\n1"},
			{"WITH jobs AS (SELECT 1 AS id) SELECT id FROM jobs UNION ALL SELECT name FROM shards", "id\n1"},
			{"WITH x AS (SELECT id FROM jobs), jobs AS (SELECT 1 AS id) SELECT * FROM x, jobs", "error 1044 (42000)"}, // refused: one name for two tables
			{"WITH jobs AS (SELECT id FROM jobs) SELECT id FROM jobs", "error 1044 (42000)"},
			{"SHOW TABLES LIKE 'job%'", "Tables_in_locus\njob_differences\njob_steps\njobs"},
			{"SHOW COLUMNS FROM jobs LIKE 'i%'", "Field|Type|Null|Key|Default|Extra\nid|varchar(1024)|YES||NULL|"},
			{"SHOW FULL COLUMNS FROM jobs WHERE Field IN ('id', 'percent')", columns + "id|varchar(1024)|utf8mb4_general_ci|YES||NULL||select|\npercent|decimal(20,2)|NULL|YES||NULL||select|"},
			{"SHOW CREATE TABLE shards", "Table|Create Table\nshards|CREATE TABLE `shards` (\n  `name` varchar(1024) DEFAULT NULL\n) COMMENT='answered by the proxy, in UTC'"},
			{"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'job%' ORDER BY BINARY TABLE_NAME", "TABLE_NAME\njob_differences\njob_steps\njobs"},
			{"UPDATE jobs SET why = 'x'", "error"},
			{"DELETE FROM jobs", "error"},
		} {
			if got := p.proxy.say(c.statement); got != c.want && (c.want != "error" || !strings.HasPrefix(got, "error")) {
				t.Errorf("%s\n got %s\nwant %s", c.statement, got, c.want)
			}
		}
		if got := p.proxy.say("SELECT id FROM jobs WHERE changes > ?", 0); got != "id\nsplit-1" {
			t.Errorf("prepared: %s", got)
		}
		p.proxy.must(t, "USE `"+home+"`")
		if got := p.proxy.say("SELECT id FROM jobs WHERE why = 'jobs'"); got != "error 1146 (42S02)" {
			t.Errorf("elsewhere: %s", got)
		}
		for _, c := range []struct{ statement, want string }{
			{"SELECT t.TABLE_NAME, TABLE_TYPE FROM information_schema.tables t WHERE TABLE_SCHEMA = 'locus' AND TABLE_NAME = 'jobs'", "TABLE_NAME|TABLE_TYPE\njobs|SYSTEM VIEW"},
			{"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'Locus2'", "TABLE_NAME"},
			{
				"SELECT COLUMN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH AS most, NUMERIC_SCALE AS scale, DATETIME_PRECISION AS fraction FROM INFORMATION_SCHEMA.`COLUMNS` WHERE TABLE_SCHEMA = \"locus\" AND TABLE_NAME = 'jobs' ORDER BY ORDINAL_POSITION",
				"COLUMN_NAME|DATA_TYPE|most|scale|fraction\nid|varchar|1024|NULL|NULL\npercent|decimal|NULL|2|NULL\nchanges|bigint|NULL|0|NULL\ncreated|datetime|NULL|NULL|3\nwhy|varchar|1024|NULL|NULL",
			},
			{"SELECT COUNT(DISTINCT TABLE_SCHEMA) AS several FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('locus', '" + home + "')", "several\n2"},
			{"SHOW TABLE STATUS FROM locus WHERE Name = 'jobs' AND Comment LIKE 'answered%'", "Name|Engine|Version|Row_format|Rows|Avg_row_length|Data_length|Max_data_length|Index_length|Data_free|Auto_increment|Create_time|Update_time|Check_time|Collation|Checksum|Create_options|Comment\n" +
				"jobs" + strings.Repeat("|NULL", 16) + "|answered by the proxy, in UTC"},
		} {
			if got := p.proxy.say(c.statement); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.statement, got, c.want)
			}
		}
		if got := p.proxy.say("SHOW INDEX FROM locus.jobs"); !strings.HasPrefix(got, "Table|Non_unique|Key_name|") || strings.Contains(got, "\n") {
			t.Errorf("indexes: %s", got)
		}
	})
}

// Many rows are a long statement for the shard, and still an answer; the last
// ones count.
func TestManyVirtualRows(t *testing.T) {
	v := &virtual{}
	for i := range 1500 {
		v.rows = append(v.rows, []any{fmt.Sprintf("split-%d", i), 0.0, int64(i), time.Time{}, strings.Repeat("ä", 900)})
	}
	pairs(t, shop.Options{Options: func(o *proxy.Options) { o.Virtual = v }}, func(t *testing.T, p *pair) {
		if got := p.proxy.say("SELECT COUNT(*) AS n, MIN(changes) AS a, MAX(changes) AS b, MAX(CHAR_LENGTH(why)) AS c FROM locus.jobs"); got != "n|a|b|c\n1000|500|1499|900" {
			t.Error(got)
		}
	})
}

// known waits until the proxy knows the user, who was declared a moment ago.
func known(t *testing.T, db *sql.DB) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	late := time.After(time.Minute)
	for {
		err := db.PingContext(t.Context())
		if err == nil {
			return
		}
		select {
		case <-look.C:
		case <-late:
			t.Fatal(err)
		}
	}
}

// Admins can empty locus.statements, but no other table. Other users can empty none.
func empties(t *testing.T, s *shop.Shop, v *virtual) {
	t.Helper()
	v.emptied = 0
	as := func(user string) *sql.DB { return s.DB(t, func(c *mysql.Config) { c.User = user }) }
	for _, c := range []struct{ user, statement, want string }{
		{"app", "TRUNCATE TABLE locus.statements", "error 1044 (42000)"},
		{"bound", "TRUNCATE TABLE locus.statements", "error 1044 (42000)"},
		{"root", "TRUNCATE locus.jobs", "error 1288 (HY000)"},
		{"root", "TRUNCATE TABLE locus.statements", "ok"},
		{"chief", "truncate `locus`.STATEMENTS", "ok"},
	} {
		got := open(t, c.user, as(c.user)).say(c.statement)
		if !strings.HasPrefix(got, "error") {
			got = "ok"
		}
		if got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.user, c.statement, got, c.want)
		}
	}
	if v.emptied != 2 {
		t.Errorf("it was emptied %d times", v.emptied)
	}
}

func TestWhoMayLook(t *testing.T) {
	v := &virtual{rows: [][]any{{"split-1", 1.0, int64(1), time.Time{}, nil}}}
	pairs(t, shop.Options{Options: func(o *proxy.Options) { o.Virtual = v }}, func(t *testing.T, p *pair) {
		s := p.shop
		changed := *s.Cluster
		changed.Users = map[string]cluster.User{
			"app":   s.Cluster.Users["app"],
			"bound": {Secret: "app", Databases: []string{s.Schema}},
			"chief": {Secret: "app", Databases: []string{s.Schema}, Admin: true},
			"root":  {Secret: "app", Admin: true},
		}
		s.Apply(&changed)
		for user, want := range map[string]string{"bound": "error 1142 (42000)", "chief": "id\nsplit-1", "root": "id\nsplit-1", "app": "id\nsplit-1"} {
			db := s.DB(t, func(c *mysql.Config) { c.User = user })
			known(t, db)
			if got := open(t, user, db).say("SELECT id FROM locus.jobs"); got != want {
				t.Errorf("%s: %s, want %s", user, got, want)
			}
		}
		empties(t, s, v)
	})
}
