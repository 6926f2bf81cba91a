//go:build servers

package doctor

import (
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/link"
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
