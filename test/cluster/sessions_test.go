//go:build servers

package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/test/product"
)

// A session of one proxy is seen and ended from another one: by the command, and by a procedure.
func TestSessionsOfAllProxies(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := Start(t, engine, Options{UserFields: ", admin: true"})
		one, other := c.Serve("one"), c.Serve("other")
		db := Open(Config(one.Addr))
		defer db.Close()
		admin := Open(Config(other.Addr))
		defer admin.Close()
		for _, statement := range []bool{true, false} {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var id int64
			if err := conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := conn.ExecContext(context.WithoutCancel(t.Context()), "DO SLEEP(608.25)")
				ended <- err
			}()
			product.Eventually(t, "the list shows the statement", func() bool {
				out := c.MustLocus("sessions", "list", "--running", "--proxy", one.Addr)
				return strings.Contains(out, fmt.Sprint(id)) && strings.Contains(strings.ToUpper(out), "SLEEP") && !strings.Contains(out, "608.25")
			})
			var proxy, user string
			product.Eventually(t, "the table shows the statement", func() bool {
				return admin.QueryRowContext(t.Context(), "SELECT proxy, user_name FROM locus.sessions WHERE id = ? AND statement LIKE '%SLEEP%' AND command <> 'Sleep'", id).Scan(&proxy, &user) == nil
			})
			if user != User {
				t.Errorf("it is of user %s", user)
			}
			if statement {
				c.MustLocus("sessions", "kill", proxy, fmt.Sprint(id), "--statement", "--yes")
			} else if _, err := admin.ExecContext(t.Context(), fmt.Sprintf("CALL locus.kill_session('%s', %d)", proxy, id)); err != nil {
				t.Error(err)
			}
			select {
			case err = <-ended:
			case <-time.After(time.Minute):
				t.Fatal("the statement goes on")
			}
			if _, next := conn.ExecContext(t.Context(), "DO 1"); statement != (next == nil) {
				t.Errorf("only the statement: %v; it ended with %v, the next one with %v", statement, err, next)
			}
			_ = conn.Close()
		}
		out, err := c.Locus("sessions", "kill", one.Addr, "4000000000", "--yes")
		if err == nil || !strings.Contains(out, "the proxy has no session 4000000000") {
			t.Errorf("a session that does not exist: %v, %s", err, out)
		}
	})
}
