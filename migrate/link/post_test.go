//go:build servers

package link_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
	"locus/migrate/link"
)

func TestMain(m *testing.M) { servers.Main(m) }

// A posted statement and the one sent after it each get their own answer, whatever the other's is.
func TestPostedStatements(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		server.Exec(t, "CREATE DATABASE posted")
		c, err := link.Dial(t.Context(), link.Server{Addr: server.Addr(), User: server.User, Password: server.Password})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, sql := range []string{"USE posted", "CREATE TABLE t (id INT PRIMARY KEY, v LONGBLOB)", "INSERT INTO t VALUES (1, ''), (2, '')", "SET autocommit = 0"} {
			if _, err := c.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		post := func(sql string) *link.Posted {
			p, err := c.Post(t.Context(), sql)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		expect := func(p *link.Posted, affected uint64, code uint16) {
			t.Helper()
			if o, err := p.Outcome(t.Context()); o.Affected != affected || link.Code(err) != code || code == 0 && err != nil {
				t.Errorf("%d rows, %v; want %d, and error %d", o.Affected, err, affected, code)
			}
		}
		rows := func(want int) {
			t.Helper()
			got, err := c.Query(t.Context(), "SELECT id FROM t")
			if err != nil || len(got) != want {
				t.Errorf("%d rows, %v; want %d", len(got), err, want)
			}
		}

		p := post("UPDATE t SET v = 'a'")
		if o, err := c.Exec(t.Context(), "INSERT INTO t VALUES (3, ''), (4, ''), (5, '')"); err != nil || o.Affected != 3 {
			t.Errorf("%d rows, %v", o.Affected, err)
		}
		expect(p, 2, 0)
		expect(p, 2, 0) // the result can be read more than once

		p = post("UPDATE nowhere SET v = 'a'")
		rows(5)
		expect(p, 0, mysql.ER_NO_SUCH_TABLE)

		p = post("DELETE FROM t WHERE id = 1")
		if _, err := c.Exec(t.Context(), "INSERT INTO t VALUES (2, '')"); !link.Duplicate(err) {
			t.Errorf("a row with a key that is there: %v", err)
		}
		expect(p, 1, 0)

		p = post("DELETE FROM t WHERE id = 2")
		large := link.Statement(append(link.Begin(nil), "INSERT INTO t VALUES (9, '"+strings.Repeat("x", 3<<20)+"')"...))
		if o, err := c.Send(t.Context(), large); err != nil || o.Affected != 1 {
			t.Errorf("%d rows, %v", o.Affected, err)
		}
		expect(p, 1, 0)
		rows(4)

		expect(post("DELETE FROM t"), 4, 0) // no other statement is sent after it
		if _, err := c.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		rows(2)

		p = post("DO 0")
		if _, err := c.Post(t.Context(), "DO 0"); err == nil {
			t.Error("two answers are waited for")
		}
		expect(p, 0, 0)
		if c.Broken() != nil {
			t.Errorf("the connection is broken: %v", c.Broken())
		}

		p = post("DO SLEEP(60)")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Outcome(ctx); err == nil {
			t.Error("an answer that was not there")
		}
	})
}
