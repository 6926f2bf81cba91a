//go:build servers

package stamp

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/router/stmt"
)

func TestMain(m *testing.M) { servers.Main(m) }

// liveTables are the definitions of the schema's tables on a server.
var liveTables = []string{
	"CREATE TABLE orders (id BIGINT PRIMARY KEY, no BIGINT NOT NULL UNIQUE, user_id BIGINT NOT NULL, note VARCHAR(64), ver BIGINT NOT NULL)",
	"CREATE TABLE notes (author VARCHAR(64) NOT NULL, note VARCHAR(64), gene BIGINT NOT NULL)",
	"CREATE TABLE `signed` (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, note VARCHAR(64))",
	"CREATE TABLE counters (id BIGINT UNSIGNED PRIMARY KEY, user_id BIGINT NOT NULL, note VARCHAR(64))",
	"CREATE TABLE wide (id BINARY(16) PRIMARY KEY, no BINARY(16) NOT NULL UNIQUE, user_id BIGINT NOT NULL, note VARCHAR(64))",
	"CREATE TABLE mixed (id VARBINARY(16) PRIMARY KEY, no VARBINARY(16) NOT NULL UNIQUE, user_id BIGINT NOT NULL, note VARCHAR(64))",
	"CREATE TABLE tickets (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, serial BIGINT NOT NULL UNIQUE, label VARCHAR(64) NOT NULL UNIQUE, note VARCHAR(64))",
	"CREATE TABLE parts (id BIGINT PRIMARY KEY, order_id VARBINARY(16) NOT NULL, note VARCHAR(64))",
	"CREATE TABLE secrets (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, note VARCHAR(64))",
	"CREATE TABLE hushed (id VARBINARY(16) PRIMARY KEY, order_id BIGINT NOT NULL, note VARCHAR(64))",
	"CREATE TABLE items (id BIGINT PRIMARY KEY, order_id BIGINT NOT NULL, note VARCHAR(64), `odd``name` BIGINT NOT NULL)",
}

// The servers accept the statements that the golden file shows. They store as many rows as the file states,
// each with the reported ID.
func TestServersAcceptGolden(t *testing.T) {
	file, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		db := server.DB(t, servers.Database(t, server))
		db.SetMaxOpenConns(1)
		mustExec(t, db, liveTables...)
		f := newFixture(t)
		var s Stamper
		for block := range strings.SplitSeq(strings.TrimSpace(string(file)), "\n\n") {
			question, answer, _ := strings.Cut(block+"\n", "\n----\n")
			aliased := strings.Contains(question, " as new") // MariaDB has no names for the new row
			if !strings.HasPrefix(answer, "refused") && (!aliased || engine == servers.MySQL) {
				f.store(t, db, &s, question)
			}
		}
	})
}

func (f *fixture) store(t *testing.T, db *sql.DB, s *Stamper, question string) {
	t.Helper()
	sql, bound := f.parse(question)
	r, err := f.run(s, sql, bound, &counter{narrow: 1})
	if err != nil {
		t.Errorf("%s: %v", sql, err)
		return
	}
	for _, shard := range r.Shards {
		text := strings.ReplaceAll(string(shard.Text), " signed ", " `signed` ")
		result, err := db.ExecContext(context.Background(), text, arguments(shard.Params, bound)...)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if n, err := result.RowsAffected(); err != nil || int(n) != shard.Rows {
			t.Errorf("%s: %d rows, want %d (%v)", text, n, shard.Rows, err)
		}
	}
	if r.HasID {
		f.find(t, db, r, sql)
	}
	for _, table := range []string{"orders", "notes", "`signed`", "counters", "wide", "items", "mixed", "parts", "tickets", "secrets", "hushed"} {
		mustExec(t, db, "DELETE FROM "+table)
	}
}

// find searches for the first ID in the table that the statement names.
func (f *fixture) find(t *testing.T, db *sql.DB, r *Result, text string) {
	t.Helper()
	for _, c := range []struct{ table, where string }{
		{"orders", fmt.Sprint("id = ", int64(r.FirstID.Lo))},
		{"secrets", fmt.Sprint("id = ", int64(r.FirstID.Lo))},
		{"hushed", fmt.Sprintf("id = X'%x'", r.Layout.AppendBytes(nil, r.FirstID))},
		{"tickets", fmt.Sprint("id = ", int64(r.FirstID.Lo))},
		{"parts", fmt.Sprint("id = ", int64(r.FirstID.Lo))},
		{"mixed", fmt.Sprintf("id = X'%x'", r.Layout.AppendBytes(nil, r.FirstID))},
		{"items", fmt.Sprint("id = ", int64(r.FirstID.Lo))},
		{"`signed`", fmt.Sprint("id = ", int64(r.FirstID.Lo))},
		{"counters", fmt.Sprint("id = ", r.FirstID.Lo)},
		{"wide", fmt.Sprintf("id = X'%016x%016x'", r.FirstID.Hi, r.FirstID.Lo)},
	} {
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM " + c.table + " WHERE " + c.where).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			return
		}
	}
	t.Errorf("%s: no row has the ID %s", text, r.FirstID)
}

func arguments(params []Param, bound []stmt.Value) (args []any) {
	for _, p := range params {
		v := p.Value
		if p.Bound >= 0 {
			v = bound[p.Bound]
		}
		switch v.Kind {
		case stmt.Null:
			args = append(args, nil)
		case stmt.Int:
			args = append(args, v.Int)
		case stmt.Uint:
			args = append(args, v.Uint)
		default:
			args = append(args, v.Text)
		}
	}
	return args
}

// The same rows as text and prepared are the same rows in the table.
func TestServersStoreAlike(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		f := newFixture(t)
		var stored []string
		for _, prepared := range []bool{false, true} {
			db := server.DB(t, servers.Database(t, server))
			mustExec(t, db, liveTables...)
			var s Stamper
			var c counter
			for i, owner := range owners {
				text, bound := fmt.Sprintf("insert into wide (id, user_id, note) values (NULL, %d, 'a''b'), (0, %d, 'c')", owner, owner), []stmt.Value(nil)
				if prepared {
					text = "insert into wide (id, user_id, note) values (NULL, ?, 'a''b'), (?, ?, 'c')"
					bound = []stmt.Value{stmt.IntValue(owner), stmt.IntValue(0), stmt.IntValue(owner)}
				}
				r, err := f.run(&s, text, bound, &c)
				if err != nil {
					t.Fatalf("%d: %v", i, err)
				}
				for _, shard := range r.Shards {
					if _, err := db.Exec(string(shard.Text), arguments(shard.Params, bound)...); err != nil {
						t.Fatalf("%s: %v", shard.Text, err)
					}
				}
			}
			stored = append(stored, dump(t, db, "SELECT HEX(id), HEX(no), user_id, note FROM wide ORDER BY id"))
		}
		if stored[0] != stored[1] || strings.Count(stored[0], "\n") != 2*len(owners) {
			t.Errorf("as text:\n%s\nprepared:\n%s", stored[0], stored[1])
		}
	})
}

func dump(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var id, no, note string
		var owner int64
		if err := rows.Scan(&id, &no, &owner, &note); err != nil {
			t.Fatal(err)
		}
		b.WriteString(id + " " + no + " " + strconv.FormatInt(owner, 10) + " " + note + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func mustExec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
