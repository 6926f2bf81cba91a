package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// talk is one connection, to a server or to the proxy before it.
type talk struct {
	conn *sql.Conn
	who  string
}

func open(t *testing.T, who string, db *sql.DB) *talk {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", who, err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &talk{conn, who}
}

// say runs a statement and records the answer: the columns' names and the rows, or the error. With arguments it is a prepared
// statement.
func (c *talk) say(statement string, args ...any) string {
	rows, err := c.conn.QueryContext(context.Background(), statement, args...)
	if err != nil {
		return problem(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return problem(err)
	}
	var b strings.Builder
	if len(names) > 0 {
		b.WriteString(strings.Join(names, "|"))
	}
	for rows.Next() {
		values := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return problem(err)
		}
		b.WriteString("\n")
		for i, v := range values {
			if i > 0 {
				b.WriteString("|")
			}
			if v.Valid {
				b.WriteString(v.String)
			} else {
				b.WriteString("NULL")
			}
		}
	}
	if err := rows.Err(); err != nil {
		return problem(err)
	}
	return b.String()
}

func problem(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("error %d (%s)", e.Number, string(e.SQLState[:]))
	}
	return "error " + err.Error()
}

// value returns the only value of an answer.
func (c *talk) value(t *testing.T, statement string, args ...any) string {
	t.Helper()
	_, value, _ := strings.Cut(c.say(statement, args...), "\n")
	return value
}

// must runs a statement that can't fail.
func (c *talk) must(t *testing.T, statement string, args ...any) {
	t.Helper()
	if _, err := c.conn.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %s: %v", c.who, statement, err)
	}
}

// pair is a proxy and a plain server. Statements must have the same results on both.
type pair struct {
	shop         *shop.Shop
	engine       servers.Engine
	plain, proxy *talk
}

// pairs runs a test on each engine. The plain server is the server of the second shard, with a database of its own.
func pairs(t *testing.T, o shop.Options, test func(t *testing.T, p *pair)) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, o)
		other := servers.Shared(t, engine, 3)[2]
		schema := servers.Database(t, other)
		test(t, &pair{
			shop: s, engine: engine,
			plain: open(t, "plain", other.DB(t, schema)),
			proxy: open(t, "proxy", s.DB(t, nil)),
		})
	})
}

// alike runs each statement on both and compares the results.
func (p *pair) alike(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		want, got := p.plain.say(statement), p.proxy.say(statement)
		if got != want {
			t.Errorf("%s\nproxy: %s\nplain: %s", statement, got, want)
		}
	}
}
