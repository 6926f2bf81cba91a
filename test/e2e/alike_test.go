package e2e

import (
	"errors"
	"slices"
	"strings"
	"testing"

	myclient "github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/link"
	"locus/internal/test/servers"
	"locus/test/shop"
)

// If everything on the shards is declared to be on each, another shard answers statements about definitions in place
// of the default shard, also for users with limited rights.
func TestShardsThatAreAlikeStandInForEachOther(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		pair := servers.Start(t, engine, 2) // others have databases of other tests
		for name, user := range map[string]string{"without bounds": "", "within bounds": ", tables: [{schema}.test_order]"} {
			t.Run(name, func(t *testing.T) { standingIn(t, engine, pair, user) })
		}
	})
}

func standingIn(t *testing.T, engine servers.Engine, pair []*servers.Server, user string) {
	way := link.New(t, pair[0].Addr())
	s := shop.Start(t, engine, shop.Options{Servers: pair, User: user, Address: func(s *servers.Server) string {
		if s == pair[0] {
			return way.Addr()
		}
		return s.Addr()
	}})
	exec(t, s.Shard(t, 0), "DROP TABLE setting, counted")
	if err := s.Proxy.RereadNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	db := s.DB(t, nil)
	questions := []string{
		"SHOW TABLES", "SHOW FULL TABLES LIKE 'test%'", "SHOW COLUMNS FROM test_order", "SHOW TRIGGERS", "DESCRIBE test_order",
		"SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1",
		"SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position",
	}
	before := map[string][]string{}
	for _, q := range questions {
		before[q] = rows(t, db, q)
	}
	way.Lead("")
	for _, q := range questions {
		if got := rows(t, db, q); !slices.Equal(got, before[q]) {
			t.Errorf("%s: %q without the default shard, %q with it", q, got, before[q])
		}
	}
	_, err := db.Exec("SHOW DATABASES")
	refused(t, err, 1158, "shard s0")
}

// A shard that has the table returns its columns, as command-line clients request them when they connect.
func TestFieldsOfATable(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		pair := servers.Shared(t, engine, 2)
		way := link.New(t, pair[0].Addr())
		s := shop.Start(t, engine, shop.Options{
			Tables:       []string{"CREATE TABLE {schema}.far (one INT PRIMARY KEY, two INT)"},
			Declarations: "  {schema}.far: {kind: single, shard: s1}\n",
			Address: func(s *servers.Server) string {
				if s == pair[0] {
					return way.Addr()
				}
				return s.Addr()
			},
		})
		exec(t, s.Shard(t, 0), "DROP TABLE far")
		c, err := myclient.Connect(s.Addr, shop.User, shop.Password, s.Schema)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fields := func(table string, want int) {
			t.Helper()
			if list, err := c.FieldList(table, ""); err != nil || len(list) != want {
				t.Errorf("%s: %d fields, %v", table, len(list), err)
			}
		}
		fields("far", 2)
		fields("setting", 2)
		fields("product", 3)
		way.Lead("")
		fields("far", 2)
		fields("product", 3)
		_, err = c.FieldList("setting", "")
		refusedBy(t, err, 1158, "shard s0")
		way.Lead(pair[0].Addr())
	})
}

// refusedBy returns the statements that must be refused for this client's errors.
func refusedBy(t *testing.T, err error, number uint16, words string) {
	t.Helper()
	if e, ok := errors.AsType[*mysql.MyError](err); !ok || e.Code != number || !strings.Contains(e.Message, words) {
		t.Errorf("error %v, want %d with %q", err, number, words)
	}
}
