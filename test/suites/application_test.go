package suites

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/test/suites/report"
	"locus/test/suites/stand"
)

// application is an application and a program of ours that uses it: the application's own installer makes its tables, its own functions
// use them. What each step finds is compared, and the rows of all tables at the end.
//
// The program finds the endpoint in APP_HOST, APP_PORT, APP_USER, APP_PASSWORD and APP_DATABASE, the application in APP_DIR, and writes a
// report of lines into the file APP_REPORT.
type application struct {
	part  string // the directory of test/install/suites.sh
	root  string // where the application is in that
	args  []string
	limit time.Duration
	// unlike are the columns, as table.column, whose values differ from run to run.
	unlike []string
	// counted compares the numbers of rows only, and uncounted are the tables without even that.
	counted   bool
	uncounted []string
}

func (a application) prepare(t *testing.T) (cases, inShop run) {
	t.Helper()
	steps, _ := program{
		part: a.part, args: a.args, limit: a.limit, outcomes: steps,
		env: []string{
			"APP_HOST={host}", "APP_PORT={port}", "APP_USER={user}", "APP_PASSWORD={password}", "APP_DATABASE={database}", "APP_REPORT={report}",
			"APP_DIR={source}" + a.root, "TZ=UTC",
		},
	}.prepare(t)
	return func(t *testing.T, at place, _ []string) stand.Outcomes {
		outcomes := steps(t, at, nil)
		db := at.DB(t, at.database)
		for _, table := range tables(t, db) {
			if !slices.Contains(a.uncounted, table) {
				outcomes["table "+table] = stand.Outcome{State: stand.Passed, Result: a.contents(t, db, table)}
			}
		}
		return outcomes
	}, nil
}

// steps reads the report of the program: an outcome, and the rows that were read, for each step.
func steps(t *testing.T, _ []byte, path string) stand.Outcomes {
	t.Helper()
	outcomes := report.Lines(t, path, "")
	for name, o := range outcomes {
		if o.State == stand.Passed {
			o.Result = o.Detail
			outcomes[name] = o
		}
	}
	if _, ended := outcomes["end"]; !ended {
		outcomes["end"] = stand.Outcome{State: stand.Failed, Detail: "the program did not reach its end"}
	}
	return outcomes
}

func (a application) contents(t *testing.T, db *sql.DB, table string) string {
	t.Helper()
	if a.counted {
		return strings.Join(column(t, db, "SELECT COUNT(*) FROM `"+table+"`"), " ")
	}
	return a.rows(t, db, table)
}

// tables returns the names of the tables.
func tables(t *testing.T, db *sql.DB) []string {
	t.Helper()
	return column(t, db, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1")
}

// rows returns the rows of a table in order, without the values of the columns that differ from run to run.
func (a application) rows(t *testing.T, db *sql.DB, table string) string {
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
			case slices.Contains(a.unlike, table+"."+name):
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

// column returns the values of a query with one field.
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
