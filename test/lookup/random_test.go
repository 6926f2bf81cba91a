//go:build servers

package lookup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/test/shop"
)

// values are values of the indexed column. Some are equal under its collation.
var values = []any{
	"ann@x", "Ann@X", "änn@x", "ANN@x  ", "bob@x", "bob@x ", "böb@x", "straße@x", "strase@x", "STRASSE@x", "中文@x", "中文@X", "🙂@x", "🙁@x", "", " ", "a\tb", "a", "A", "á", "it's", `back\slash`,
	"x%y_z", "ﬁx", "fix", "İ", "i", "ı", nil, nil,
}

// statement is one step of a run on both sides.
type statement struct {
	text string
	args []any
	// several: the first error of several rows may be another one.
	several bool
	// warns: the warnings are a part of the result.
	warns bool
}

func literal(v any) string {
	if v == nil {
		return "NULL"
	}
	text := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v.(string))
	return "'" + text + "'"
}

func randomStatement(r *rand.Rand) statement {
	id := func() int { return r.IntN(25) }
	value := func() any { return values[r.IntN(len(values))] }
	given := func() any { // the value may be too long
		if r.IntN(25) == 0 {
			return strings.Repeat("l", 61)
		}
		return value()
	}
	ids := fmt.Sprintf("(%d, %d, %d)", id(), id(), id())
	name := func() string { return string(rune('a' + r.IntN(4))) }
	where := func() (text string, args []any, several bool) {
		switch r.IntN(6) {
		case 0, 1:
			return "id = ?", []any{id()}, false
		case 2, 3:
			return "email = ?", []any{value()}, false
		case 4:
			return "email = ? AND name = ?", []any{value(), name()}, false
		}
		return "id IN " + ids, nil, true
	}
	text, args, several := where()
	switch r.IntN(26) {
	case 17, 18, 19, 20, 21, 22, 23, 24, 25:
		return randomDuplicates(r, id, value, name)
	case 16:
		return statement{"INSERT INTO users (id, email) SELECT 24 - id, CONCAT(UPPER(name), '@x') FROM users WHERE id = ?", []any{id()}, true, false}
	case 0, 1, 2, 3:
		return statement{text: "INSERT INTO users VALUES (?, ?, ?)", args: []any{id(), given(), name()}}
	case 4:
		return statement{"INSERT INTO users (email, id) VALUES (?, ?), (?, ?), (?, ?)", []any{value(), id(), value(), id(), value(), id()}, true, false}
	case 5:
		return statement{text: "INSERT INTO users SET id = ?, email = ?", args: []any{id(), value()}}
	case 6, 7:
		return statement{"UPDATE users SET email = ? WHERE " + text, append([]any{given()}, args...), several, false}
	case 8:
		return statement{"UPDATE users SET name = ?, email = ? WHERE " + text, append([]any{name(), value()}, args...), several, false}
	case 9:
		return statement{"UPDATE users SET name = ? WHERE " + text, append([]any{name()}, args...), several, false}
	case 10, 11:
		return statement{"DELETE FROM users WHERE " + text, args, several, false}
	case 12, 13:
		return statement{text: "SELECT id, email, name FROM users WHERE " + text + " ORDER BY id", args: args}
	case 14:
		return statement{text: "SELECT COUNT(*), MIN(id) FROM users WHERE email IN (?, ?, ?)", args: []any{value(), value(), value()}}
	}
	return statement{text: "SELECT id FROM users WHERE " + text + " FOR UPDATE", args: args}
}

// randomDuplicates returns an INSERT that handles duplicates.
func randomDuplicates(r *rand.Rand, id func() int, value func() any, name func() string) statement {
	rows, args := "(?, ?, ?)", []any{id(), value(), name()}
	for range r.IntN(2) * r.IntN(4) {
		rows, args = rows+", (?, ?, ?)", append(args, id(), value(), name())
	}
	updates := " ON DUPLICATE KEY UPDATE "
	switch r.IntN(9) {
	case 0, 1:
		return statement{"REPLACE INTO users VALUES " + rows, args, len(args) > 3, true}
	case 2, 3:
		return statement{"INSERT IGNORE INTO users VALUES " + rows, args, len(args) > 3, true}
	case 4, 5:
		return statement{"INSERT INTO users VALUES " + rows + updates + "name = CONCAT(LEFT(name, 3), VALUES(name))", args, len(args) > 3, true}
	case 6:
		return statement{"INSERT INTO users VALUES " + rows + updates + "email = VALUES(email), name = 'v'", args, len(args) > 3, true}
	case 7:
		return statement{"INSERT INTO users VALUES " + rows + updates + "name = 'w', email = ?", append(args, value()), len(args) > 3, true}
	}
	verb := []string{"REPLACE", "INSERT IGNORE"}[r.IntN(2)]
	return statement{verb + " INTO users (id, email) SELECT 24 - id, IF(id % 2, CONCAT(UPPER(name), '@x'), email) FROM users WHERE id IN (?, ?) ORDER BY id", []any{id(), id()}, true, true}
}

// run runs a statement, and returns its result as text. Arguments are written into the text if that is asked for.
func (s statement) run(ctx context.Context, on interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, written bool) string {
	text, args := s.text, s.args
	if written {
		for _, a := range args {
			l := fmt.Sprint(a)
			if a == nil {
				l = "NULL"
			} else if _, is := a.(string); is {
				l = literal(a)
			}
			text = strings.Replace(text, "?", strings.ReplaceAll(l, "?", ""), 1)
		}
		args = nil
	}
	if !strings.HasPrefix(text, "SELECT") && !strings.HasPrefix(text, "SHOW") {
		result, err := on.ExecContext(ctx, text, args...)
		if err != nil {
			return s.failed(err)
		}
		n, _ := result.RowsAffected()
		if s.warns {
			return fmt.Sprint(n, " rows ", statement{text: "SHOW WARNINGS"}.run(ctx, on, true))
		}
		return fmt.Sprint(n, " rows")
	}
	rows, err := on.QueryContext(ctx, text, args...)
	if err != nil {
		return s.failed(err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var all []string
	for rows.Next() {
		fields, to := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range fields {
			to[i] = &fields[i]
		}
		if err := rows.Scan(to...); err != nil {
			return s.failed(err)
		}
		all = append(all, fmt.Sprintf("%+v", fields))
	}
	if rows.Err() != nil {
		return s.failed(rows.Err())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func (s statement) failed(err error) string {
	e := new(mysql.MySQLError)
	if errors.As(err, &e) && s.several {
		return fmt.Sprint("error ", e.Number)
	}
	return err.Error()
}

// Statements on a table with a look-up index have the results that they have on one server with the unique key. Afterwards every row has its
// entry, and every entry its row.
func TestAsOnOneServer(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for seed := range scale.Of(uint64(1), 40) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				s, db := indexed(t, engine)
				must(t, db, "CALL locus.fill_lookup('"+s.Schema+".users_by_email')")
				compare(t, s, db, plain(t, engine), seed, 600)
				s.checkEntries(t)
			})
			if t.Failed() {
				return
			}
		}
	})
}

// plain returns a database on one server with the table.
func plain(t *testing.T, engine servers.Engine) *sql.DB {
	t.Helper()
	server := servers.Shared(t, engine, 1)[0]
	schema := servers.Database(t, server)
	db := server.DB(t, schema)
	must(t, db, users)
	return db
}

func compare(t *testing.T, s *stand, proxied, plain *sql.DB, seed uint64, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	ctx := t.Context()
	a, err := proxied.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := plain.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var log []string
	open := false
	for i := range n {
		st := randomStatement(r)
		switch turn := r.IntN(12); {
		case turn == 0 && !open:
			st, open = statement{text: []string{"BEGIN", "START TRANSACTION WITH CONSISTENT SNAPSHOT"}[r.IntN(2)]}, true
		case turn < 2 && open:
			st, open = statement{text: []string{"COMMIT", "ROLLBACK"}[r.IntN(2)]}, false
		case turn == 2:
			level := []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}[r.IntN(3)]
			st = statement{text: "SET SESSION TRANSACTION ISOLATION LEVEL " + level}
		}
		written := r.IntN(2) == 0 || st.args == nil
		log = append(log, fmt.Sprint(st.text, " ", fmt.Sprintf("%q", st.args), " ", written))
		want, got := st.run(ctx, b, written), st.run(ctx, a, written)
		if got != want {
			t.Fatalf("seed %d, statement %d:\n%s\none server: %s\nlocus:      %s", seed, i, strings.Join(log[max(0, len(log)-6):], "\n"), want, got)
		}
	}
	for _, on := range []*sql.Conn{a, b} {
		if _, err := on.ExecContext(ctx, "COMMIT"); err != nil {
			t.Fatal(err)
		}
	}
	all := statement{text: "SELECT id, email, name FROM users"}
	if want, got := all.run(ctx, b, true), all.run(ctx, a, true); want != got {
		t.Fatalf("seed %d: one server has %s, and locus %s", seed, want, got)
	}
}

// checkEntries checks the rows and entries of all shards.
func (s *stand) checkEntries(t *testing.T) {
	t.Helper()
	checkEntries(t, func(query string) string {
		all := ""
		for i := range s.Servers {
			all += " " + column(t, s.Shop.Shard(t, i), query)
		}
		return all
	})
}

// checkEntries checks that every row has its entry, and every entry its row. ask returns the answers of all shards to a query.
func checkEntries(t *testing.T, ask func(query string) string) {
	t.Helper()
	const value = "SELECT CONCAT(HEX(WEIGHT_STRING(TRIM(TRAILING ' ' FROM email))), '/', "
	rows, entries := map[string]int{}, map[string]int{}
	for key := range strings.FieldsSeq(ask(value + "locus_gene) FROM users WHERE email IS NOT NULL")) {
		rows[key]++
	}
	for key := range strings.FieldsSeq(ask(value + "row_gene) FROM users_by_email")) {
		entries[key]++
	}
	for key, n := range rows {
		if n != 1 || entries[key] != 1 {
			t.Errorf("value %s: %d rows, %d entries", key, n, entries[key])
		}
	}
	for key := range entries {
		if rows[key] == 0 {
			t.Errorf("value %s: an entry without its row", key)
		}
	}
}

// stand is a shop with the tables.
type stand struct{ *shop.Shop }
