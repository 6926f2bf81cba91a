//go:build long

package tpch

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/proxy/txn"
	"locus/test/shop"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

const database = "tpch"

// layouts contain the columns by which tables are sharded. The other tables are global.
var layouts = map[string]map[string]string{
	"orders": {"orders": "o_orderkey", "lineitem": "l_orderkey"},
	"all large": {
		"orders": "o_orderkey", "lineitem": "l_orderkey", "customer": "c_custkey", "part": "p_partkey", "partsupp": "ps_partkey", "supplier": "s_suppkey",
	},
}

func Test(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for _, name := range slices.Sorted(maps.Keys(layouts)) {
			t.Run(name, func(t *testing.T) { compare(t, engine, layouts[name]) })
		}
	})
}

func compare(t *testing.T, engine servers.Engine, sharded map[string]string) {
	var declarations strings.Builder
	for _, table := range tables {
		kind := "global"
		if owner := sharded[table.name]; owner != "" {
			kind = "sharded, owner: " + owner
		}
		fmt.Fprintf(&declarations, "  %s.%s: {kind: %s}\n", database, table.name, kind)
	}
	s := stand.StartWith(t, engine, shop.Options{Declarations: declarations.String(), Spanning: txn.XA})
	s.Check(t, ".", func(t *testing.T, at stand.Endpoint, _ []string) stand.Outcomes {
		at.Database(t, database)
		db := at.DB(t, database)
		fill(t, db)
		if at.Name == s.Proxy.Name {
			s.Spread(t, database, slices.Sorted(maps.Keys(sharded))...)
		}
		outcomes := stand.Outcomes{}
		for _, n := range slices.Sorted(maps.Keys(queries)) {
			outcomes[fmt.Sprintf("Q%d", n)] = answer(t, db, n, queries[n])
		}
		return outcomes
	})
}

// answer runs a query, Q15 between its view's definition and its end.
func answer(t *testing.T, db *sql.DB, n int, text string) stand.Outcome {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	failed := func(err error) stand.Outcome {
		t.Errorf("Q%d: %v", n, err)
		return stand.Outcome{State: stand.Failed, Detail: err.Error()}
	}
	if n == 15 {
		if _, err := db.ExecContext(ctx, revenue); err != nil {
			return failed(err)
		}
	}
	began := time.Now()
	rows, err := read(ctx, db, text)
	if err != nil {
		return failed(err)
	}
	t.Logf("Q%d: %d rows, %v", n, len(rows), time.Since(began).Round(time.Millisecond))
	if n == 15 {
		if _, err := db.ExecContext(ctx, "DROP VIEW revenue0"); err != nil {
			return failed(err)
		}
	}
	if len(rows) == 0 || rows[0] == "NULL" {
		return failed(fmt.Errorf("no row is found, which compares nothing"))
	}
	return stand.Outcome{State: stand.Passed, Result: strings.Join(rows, "\n")}
}

// read gives the rows in their order, as text.
func read(ctx context.Context, db *sql.DB, text string) (list []string, err error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(values))
		for i, value := range values {
			row[i] = "NULL"
			if value.Valid {
				row[i] = value.String
			}
		}
		list = append(list, strings.Join(row, "|"))
	}
	return list, rows.Err()
}

// fill makes the tables and their rows.
func fill(t *testing.T, db *sql.DB) {
	t.Helper()
	exec := func(text string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text[:min(len(text), 200)], err)
		}
	}
	rows := rowsOnce()
	for _, table := range tables {
		exec("CREATE TABLE " + table.name + " (" + table.columns + ")")
		for part := range slices.Chunk(rows[table.name], 1000) {
			exec("INSERT INTO " + table.name + " VALUES " + strings.Join(part, ", "))
		}
		exec("ANALYZE TABLE " + table.name)
	}
}
