//go:build servers

package autoincrement

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"locus/idgen"
	"locus/idgen/ha"
	"locus/internal/test/distinct"
	"locus/internal/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

func TestFourTablesOnTwoServers(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		shared := servers.Shared(t, engine, 2)
		database := servers.Database(t, shared...)
		var tables []Table
		for i := range 4 {
			table := Table{DB: shared[i%2].DB(t, database), Name: fmt.Sprint("ids_", i)}
			if err := table.Create(t.Context()); err != nil {
				t.Fatal(err)
			}
			tables = append(tables, table)
		}
		var all distinct.Numbers
		var takers sync.WaitGroup
		for range 3 {
			g, err := New(ha.Options{}, tables...)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				takers.Go(func() { all.Take(t, g, 10, 7) })
			}
		}
		takers.Wait()
		rows := 0
		for i, table := range tables { // each number leaves its row
			var ids []uint64
			found, err := table.DB.QueryContext(t.Context(), "SELECT id FROM "+table.Name+" WHERE issued > NOW() - INTERVAL 1 HOUR")
			if err != nil {
				t.Fatal(err)
			}
			for found.Next() {
				var id uint64
				if err := found.Scan(&id); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, id)
			}
			if err := found.Err(); err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				if !all.Has(id<<2 | uint64(i)) {
					t.Errorf("row %d of table %d has no number", id, i)
				}
			}
			rows += len(ids)
		}
		if rows != all.Len() || rows < 90 {
			t.Errorf("%d rows and %d numbers", rows, all.Len())
		}

		g, err := New(ha.Options{}, tables...)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		shared[1].Exec(t, "RENAME TABLE "+database+".ids_1 TO "+database+".away")
		for range 20 {
			all.Take(t, g, 1, 1)
		}
		if m := g.Members()[1]; m.State != ha.Aside || m.Err == nil {
			t.Errorf("the table that is away is %s: %v", m.State, m.Err)
		}

		shared[0].Exec(t, "ALTER TABLE "+database+".ids_0 AUTO_INCREMENT = 9223372036854775806")
		one, err := New(ha.Options{}, tables[0], tables[0])
		if err != nil {
			t.Fatal(err)
		}
		if n, err := idgen.One(t.Context(), one); !errors.Is(err, idgen.ErrOutOfRange) {
			t.Errorf("past the end: %d, %v", n, err)
		}
	})
}

func TestTheNumberOfTablesIsAPowerOfTwo(t *testing.T) {
	for _, n := range []int{0, 3, 12, 2048} {
		if _, err := New(ha.Options{}, make([]Table, n)...); err == nil {
			t.Errorf("%d tables are taken", n)
		}
	}
}
