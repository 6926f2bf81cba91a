// Package application runs whole applications at the ends of a stand: an application's own installer makes its tables, its own
// functions use them, and what it finds and what it leaves is compared.
//
// It owns running a program with the endpoint in its environment, and reading what is left in the tables. It never knows an
// application: what one is made to do is in the program beside its test.
package application

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/test/suites/lines"
	"locus/test/suites/stand"
)

// Program is what drives an application. It is told of the endpoint by APP_HOST, APP_PORT, APP_USER, APP_PASSWORD and
// APP_DATABASE, and writes a report of [lines] into the file of APP_REPORT.
type Program struct {
	Dir      string
	Args     []string
	Env      []string
	Database string
	Limit    time.Duration
	// Unlike are the columns, as table.column, whose values differ from run to run.
	Unlike []string
}

// Run makes the database, runs the program in it, and tells of its cases with what they found, and of each table with what it has
// then.
func (p Program) Run(t *testing.T, at stand.Endpoint, _ []string) stand.Outcomes {
	t.Helper()
	at.Database(t, p.Database)
	report := filepath.Join(t.TempDir(), "report")
	stand.Command{
		Dir: p.Dir, Args: p.Args, Limit: p.Limit,
		Env: append([]string{
			"APP_HOST=" + at.Host, fmt.Sprintf("APP_PORT=%d", at.Port), "APP_USER=" + at.User, "APP_PASSWORD=" + at.Password,
			"APP_DATABASE=" + p.Database, "APP_REPORT=" + report, "TZ=UTC",
		}, p.Env...),
	}.Output(t)
	outcomes := lines.Read(t, report, "")
	for name, o := range outcomes {
		if o.State == stand.Passed {
			o.Result = o.Detail
			outcomes[name] = o
		}
	}
	if _, ended := outcomes["end"]; !ended {
		outcomes["end"] = stand.Outcome{State: stand.Failed, Detail: "the program did not come to its end"}
	}
	for table, rows := range p.contents(t, at.DB(t, p.Database)) {
		outcomes["table "+table] = stand.Outcome{State: stand.Passed, Result: rows}
	}
	return outcomes
}

// contents are the rows of every table, in order.
func (p Program) contents(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	tables := column(t, db, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1")
	contents := map[string]string{}
	for _, table := range tables {
		contents[table] = p.rows(t, db, table)
	}
	return contents
}

func (p Program) rows(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM `"+table+"`")
	if err != nil {
		t.Errorf("%s: %v", table, err)
		return ""
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	var list []string
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var row []string
		for i, name := range columns {
			value := "NULL"
			switch {
			case slices.Contains(p.Unlike, table+"."+name):
				value = "…"
			case values[i].Valid:
				value = values[i].String
			}
			row = append(row, name+"="+value)
		}
		list = append(list, strings.Join(row, "; "))
	}
	if err := rows.Err(); err != nil {
		t.Errorf("%s: %v", table, err)
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

func column(t *testing.T, db *sql.DB, query string) (values []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}

// Spread fails the test where a shard of the stand has none of the rows of a table that is sharded, or all.
func Spread(t *testing.T, s *stand.Stand, database string, tables ...string) {
	t.Helper()
	for _, table := range tables {
		var all int
		var each []int
		for i := range s.Shop.Servers {
			var rows int
			if err := s.Shop.Servers[i].DB(t, database).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM `"+table+"`").Scan(&rows); err != nil {
				t.Errorf("%s on s%d: %v", table, i, err)
			}
			all, each = all+rows, append(each, rows)
		}
		if slices.Contains(each, 0) {
			t.Errorf("%s: of %d rows the shards have %v", table, all, each)
		}
		t.Logf("%s: %v rows", table, each)
	}
}
