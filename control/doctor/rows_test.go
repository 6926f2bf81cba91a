//go:build servers

package doctor

import (
	"fmt"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/migrate/link"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// The check finds rows at either end of a table that are not on the shard of their owner.
func TestRowsOfATable(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		database := servers.Database(t, server)
		db := server.DB(t, database)
		exec := func(sql string, args ...any) {
			t.Helper()
			if _, err := db.Exec(sql, args...); err != nil {
				t.Fatal(err)
			}
		}
		exec("CREATE TABLE visit (a INT, b INT, owner BIGINT NOT NULL, gene INT NOT NULL, PRIMARY KEY (a, b))")
		var rows []string
		for i := range 3 * sampled {
			rows = append(rows, fmt.Sprintf("(%d, %d, 7, %d)", i/10, i%10, gene.OfInt(7, gene.W16)))
		}
		exec("INSERT INTO visit VALUES " + strings.Join(rows, ", "))
		routes, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0xffff, Shard: "s0"}})
		if err != nil {
			t.Fatal(err)
		}
		integer := func(name string) catalog.Column { return catalog.Column{Name: name, DataType: "bigint"} }
		visit, err := catalog.Resolve(catalog.TableName{Schema: database, Name: "visit"},
			catalog.Declaration{Kind: catalog.Sharded, Owner: "owner", Gene: "gene"},
			[]catalog.Column{integer("a"), integer("b"), integer("owner"), integer("gene")}, gene.W16)
		if err != nil {
			t.Fatal(err)
		}
		c, err := link.Dial(t.Context(), link.Server{Addr: server.Addr(), User: server.User, Password: server.Password})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		found := func() string {
			e := at(Options{Cluster: &cluster.Cluster{Routes: routes}})
			e.rows(t.Context(), &shard{Conn: c, name: "s0"}, visit)
			return e.found()
		}
		if got := found(); got != "" {
			t.Errorf("of rows that are as they should be: %s", got)
		}
		for _, key := range [][2]int{{0, 0}, {149, 9}} { // the first row and the last one
			exec("UPDATE visit SET owner = 8 WHERE a = ? AND b = ?", key[0], key[1])
			want := fmt.Sprintf("rows table %s.visit on s0: it has 1 rows whose keys are of different genes, such as %q/%q (", database, fmt.Sprint(key[0]), fmt.Sprint(key[1]))
			if got := found(); !strings.HasPrefix(got, want) {
				t.Errorf("found %q, want %q", got, want)
			}
			exec("UPDATE visit SET owner = 7")
		}
	})
}
