//go:build servers

package migrate

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/link"
	"locus/router/cluster"
)

// TestSweep: a connection that is unmarked at two checks is ended, with its locks. Connections of live proxies,
// and connections opened since the first check, are not.
func TestSweep(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		at := link.Server{Addr: server.Addr(), User: server.User, Password: server.Password}
		begin := func(proxy string) *link.Conn {
			c, err := link.Dial(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			for _, query := range []string{
				"DO RELEASE_ALL_LOCKS()", fmt.Sprintf("DO GET_LOCK(CONCAT('%s', CONNECTION_ID()), 0)", cluster.ConnectionMark(proxy)),
			} {
				if _, err := c.Exec(t.Context(), query); err != nil {
					t.Fatal(err)
				}
			}
			return c
		}
		dead, living := begin("dead"), begin("living")
		w := sweeper{&proxies{answers: []map[string]int64{{"living": 7}}}, slog.New(slog.DiscardHandler)}
		var c *link.Conn
		defer func() { hangUp(c) }()
		before, err := w.look(t.Context(), &c, at, nil)
		if err != nil || len(before) != 1 {
			t.Fatalf("orphaned are %v: %v", before, err)
		}
		late := begin("dead")
		now, err := w.look(t.Context(), &c, at, before)
		if err != nil || len(now) != 2 || !slices.Contains(now, before[0]) {
			t.Fatalf("orphaned are %v: %v", now, err)
		}
		for of, conn := range map[string]*link.Conn{"the dead proxy's": dead, "the living proxy's": living, "the dead proxy's that has just come": late} {
			_, err := conn.Exec(t.Context(), "DO 1")
			if ended := err != nil; ended != (conn == dead) {
				t.Errorf("%s connection: %v", of, err)
			}
		}
	})
}
