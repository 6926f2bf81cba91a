//go:build servers

package doctor

import (
	"testing"

	"locus/control/finding"
	"locus/control/fleet"
	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/migrate/link"
	"locus/router"
	"locus/router/cluster"
)

func TestMain(m *testing.M) { servers.Main(m) }

// A MariaDB reports its disk only if it has the plugin for that. Servers that can't report it are not a
// finding.
func TestTheDiskOfAServer(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Start(t, engine, 1)[0]
		look := func() disk {
			t.Helper()
			c, err := link.Dial(t.Context(), link.Server{Addr: server.Addr(), User: server.User, Password: server.Password})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			d, err := (&shard{Conn: c}).disk(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		if d := look(); d != (disk{}) {
			t.Errorf("%+v", d)
		}
		if engine != servers.MariaDB {
			return
		}
		server.Exec(t, "INSTALL SONAME 'disks'")
		if d := look(); d.total <= 0 || d.available < 0 || d.available > d.total || d.path == "" {
			t.Errorf("%+v", d)
		}
	})
}

// A shard without genes is not needed yet, so that nobody misses its table of decisions.
func TestAShardWithoutDecisions(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		c, err := link.Dial(t.Context(), link.Server{Addr: server.Addr(), User: server.User, Password: server.Password})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		routes, err := router.New(gene.W16, 1, []router.Entry{{Bound: gene.W16.Last(), Shard: "s1"}})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[router.ShardName]finding.Severity{"s0": finding.Outage, "s1": finding.Outage, "s2": finding.Advice} {
			e := &examination{Options: Options{XA: true, Cluster: &cluster.Cluster{Routes: routes, Settings: cluster.Settings{DefaultShard: "s0"}}}, cards: []fleet.Card{{}}}
			if err := e.twoPhases(t.Context(), &shard{Conn: c, name: name}); err != nil {
				t.Fatal(err)
			}
			if len(e.findings) != 1 || e.findings[0].Severity != want {
				t.Errorf("%s: %+v, want %v", name, e.findings, want)
			}
		}
	})
}
