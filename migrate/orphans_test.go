//go:build servers

package migrate

import (
	"fmt"
	"slices"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/link"
	"locus/router/cluster"
)

func TestMain(m *testing.M) { servers.Main(m) }

// Connections that a dead proxy has marked, or that have no mark, are orphaned. Connections of a live proxy,
// and those that carry no client's statements, are not.
func TestOrphanedConnections(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		at := link.Server{Addr: server.Addr(), User: server.User, Password: server.Password}
		marked := func(mark string) uint64 {
			db := server.DB(t, "")
			db.SetMaxOpenConns(1)
			var id uint64
			if err := db.QueryRow("SELECT CONNECTION_ID()").Scan(&id); err != nil {
				t.Fatal(err)
			}
			if mark != "" {
				if _, err := db.Exec("DO GET_LOCK(?, 0)", fmt.Sprintf("%s%d", mark, id)); err != nil {
					t.Fatal(err)
				}
			}
			return id
		}
		c, err := link.Dial(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		other, err := link.Dial(t.Context(), at) // a mover's
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		marked(cluster.ConnectionMark("living"))
		marked(cluster.ConnectionMark(cluster.NoProxy))
		dead, nobodys := marked(cluster.ConnectionMark("dead")), marked("")
		got, err := orphaned(t.Context(), c, map[string]int64{"living": 7})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		want := []uint64{dead, nobodys}
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("orphans are %v, want the dead proxy's and nobody's: %v", got, want)
		}
	})
}

func TestAProxyThatGoesDuringAStepIsMissed(t *testing.T) {
	before := map[string]int64{"a": 7, "b": 7}
	for _, c := range []struct {
		now  map[string]int64
		gone string
	}{
		{map[string]int64{"a": 8, "b": 8}, ""},
		{map[string]int64{"a": 8, "b": 8, "c": 0}, ""},
		{map[string]int64{"a": 8, "c": 8}, "b"},
		{nil, "any"},
	} {
		name, gone := anyGone(before, c.now)
		if gone != (c.gone != "") || gone && c.gone != "any" && name != c.gone {
			t.Errorf("of %v, now %v: %q is gone, %v; want %q", before, c.now, name, gone, c.gone)
		}
	}
}
