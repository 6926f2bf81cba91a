package sysvars

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locus/router/plan"
)

// knowing is a cluster with two moves, whose shards can't be read.
type knowing struct{}

var errUnread = errors.New("etcd is away")

func (knowing) Tables() []VirtualTable {
	return []VirtualTable{
		{Name: "shards", Columns: []VirtualColumn{{"name", VirtualText}}},
		{Name: "jobs", Columns: []VirtualColumn{{"id", VirtualText}, {"rows", VirtualInteger}, {"percent", VirtualNumber}, {"began", VirtualTime}}},
	}
}

func (knowing) Rows(_ context.Context, table string) ([][]any, error) {
	if table != "jobs" {
		return nil, errUnread
	}
	return [][]any{{"it's", int64(7), 12.5, time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)}, {nil, true, false, time.Time{}}}, nil
}

func (knowing) Empty(_ context.Context, table string) error {
	if table != "jobs" {
		return ErrNotEmptied
	}
	return nil
}

const jobs = "(SELECT CAST(NULL AS CHAR(1024) CHARACTER SET utf8mb4) AS `id`, CAST(NULL AS SIGNED) AS `rows`, CAST(NULL AS DECIMAL(20,2)) AS `percent`, " +
	"CAST(NULL AS DATETIME(3)) AS `began` FROM DUAL WHERE 1 = 0 UNION ALL SELECT _utf8mb4 X'69742773', 7, 12.50, TIMESTAMP'2026-01-02 03:04:05.006' UNION ALL SELECT NULL, 1, 0, NULL)"

func TestTablesOfTheCluster(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT * FROM locus.jobs":               "SELECT * FROM " + jobs + " AS `jobs`",
		"SELECT j.id FROM locus.jobs AS j":       "SELECT j.id FROM " + jobs + " AS j",
		"SELECT * FROM locus.shards":             "read locus.shards: etcd is away",
		"SELECT * FROM locus.routes":             "Table 'locus.routes' doesn't exist",
		"UPDATE locus.jobs SET phase = 1":        "is not updatable",
		"INSERT INTO locus.jobs VALUES (1)":      "is not updatable",
		"DELETE FROM locus.jobs":                 "is not updatable",
		"INSERT INTO t SELECT * FROM locus.jobs": "INSERT INTO t SELECT * FROM " + jobs + " AS `jobs`",
	} {
		st, l := parse(t, text)
		got, err := asked(&fakeShard{}).Rewrite(st, l)
		if err != nil {
			got = []byte(err.Error())
		}
		if text := string(got); text != want && (err == nil || !strings.Contains(text, want)) {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
}

func TestShowOfTheCluster(t *testing.T) {
	for text, want := range map[string]string{
		"SHOW TABLES FROM locus LIKE 'j%'": "UNION ALL SELECT 'jobs' UNION ALL SELECT 'shards') AS shown WHERE `Tables_in_locus` LIKE 'j%'",
		"SHOW FULL TABLES FROM locus":      "UNION ALL SELECT 'jobs', 'SYSTEM VIEW'",
		"SHOW COLUMNS FROM locus.jobs":     "UNION ALL SELECT 'percent', 'decimal(20,2)', 'YES', '', NULL, ''",
	} {
		if got, err := asked(&fakeShard{}).Show(shown(t, text)); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	if _, err := asked(&fakeShard{}).Show(shown(t, "SHOW COLUMNS FROM locus.routes")); err == nil {
		t.Error("a table that isn't there has columns")
	}
	nothing := asked(&fakeShard{})
	nothing.Virtual = nil
	if got, err := nothing.Show(shown(t, "SHOW TABLES FROM locus")); err != nil || strings.Contains(string(got), "UNION") {
		t.Errorf("%s, %v", got, err)
	}
}

// Users without limited rights, and admins, see the cluster.
func TestWhoSeesTheCluster(t *testing.T) {
	for _, test := range []struct{ bounded, admin, sees bool }{{false, false, true}, {true, true, true}, {true, false, false}} {
		a := asked(&fakeShard{})
		a.Bounded, a.Admin = test.bounded, test.admin
		st, l := parse(t, "SELECT * FROM locus.jobs")
		_, err := a.Rewrite(st, l)
		if _, denied := errors.AsType[*plan.Denied](err); denied == test.sees {
			t.Errorf("%+v: %v", test, err)
		}
		text, err := a.Show(shown(t, "SHOW TABLES FROM locus"))
		if err != nil || strings.Contains(string(text), "jobs") != test.sees {
			t.Errorf("%+v: %s, %v", test, text, err)
		}
	}
}
