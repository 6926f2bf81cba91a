//go:build servers

package row

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/idgen"
	"locus/idgen/segment"
	"locus/internal/test/distinct"
	"locus/internal/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }

func open(t *testing.T, server *servers.Server, database string) *Table {
	t.Helper()
	table, err := Open(server.DB(t, database), "locus_ids", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func each(t *testing.T, test func(t *testing.T, server *servers.Server, database string)) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		test(t, server, servers.Database(t, server))
	})
}

// Both ways to advance the row, with and without a lock, and segments at the same time: no number is returned
// twice.
func TestAllTakersTogether(t *testing.T) {
	each(t, func(t *testing.T, server *servers.Server, database string) {
		first := open(t, server, database)
		if err := first.Create(t.Context(), 1000, "orders"); err != nil {
			t.Fatal(err)
		}
		var all distinct.Numbers
		var takers sync.WaitGroup
		for range 4 {
			table := open(t, server, database) // as another process
			lock := NewLocal()
			for _, g := range []idgen.Numbers{
				table.Generator("orders", table.Locked, nil), table.Generator("orders", table.Swapped, lock), table.Generator("orders", table.Locked, lock),
			} {
				takers.Go(func() { all.Take(t, g, 20, 5) })
			}
			takers.Go(func() {
				for range 20 {
					g, err := table.Extend(context.Background(), "orders", 10)
					if err != nil {
						t.Error(err)
						return
					}
					for n := g.First; n <= g.Last; n++ {
						all.Add(t, n)
					}
				}
			})
		}
		takers.Wait()
	})
}

func TestBadTags(t *testing.T) {
	each(t, func(t *testing.T, server *servers.Server, database string) {
		table := open(t, server, database)
		if err := table.Create(t.Context(), 0, "orders"); err == nil {
			t.Error("a step of 0 is taken")
		}
		if err := table.Create(t.Context(), 10, "orders", "full"); err != nil {
			t.Fatal(err)
		}
		if _, err := table.Extend(t.Context(), "order", 1); !errors.Is(err, segment.ErrUnknownTag) {
			t.Error(err)
		}
		server.Exec(t, "INSERT INTO "+database+".locus_ids (biz_tag, step) VALUES ('order', 0)")
		if _, err := table.Extend(t.Context(), "order", 1); !errors.Is(err, segment.ErrUnknownTag) { // from memory
			t.Error(err)
		}
		table.asOf = table.asOf.Add(-2 * refresh)
		if _, err := table.Extend(t.Context(), "order", 1); err == nil || !strings.Contains(err.Error(), "step 0") {
			t.Error(err)
		}
		server.Exec(t, "UPDATE "+database+".locus_ids SET max_id = 9223372036854775805 WHERE biz_tag = 'full'")
		for name, advance := range map[string]Advance{"locked": table.Locked, "swapped": table.Swapped} {
			if n, err := advance(t.Context(), "full", 3); err == nil {
				t.Errorf("%s: %d past the end", name, n)
			}
		}
		if n, err := table.Locked(t.Context(), "full", 2); err != nil || n != 9223372036854775806 {
			t.Errorf("the last two numbers: %d, %v", n, err)
		}
	})
}

// A table that was restored to an older state repeats no numbers in a process that has seen higher ones.
func TestATableThatWentBack(t *testing.T) {
	each(t, func(t *testing.T, server *servers.Server, database string) {
		table := open(t, server, database)
		if err := table.Create(t.Context(), 10, "orders"); err != nil {
			t.Fatal(err)
		}
		if _, err := table.Extend(t.Context(), "orders", 100); err != nil {
			t.Fatal(err)
		}
		server.Exec(t, "UPDATE "+database+".locus_ids SET max_id = 20, version = 0")
		if g, err := table.Extend(t.Context(), "orders", 5); !errors.Is(err, segment.ErrWentBack) {
			t.Errorf("granted %v, %v", g, err)
		}
		if n, err := table.Locked(t.Context(), "orders", 5); !errors.Is(err, segment.ErrWentBack) {
			t.Errorf("gave %d, %v", n, err)
		}
		server.Exec(t, "UPDATE "+database+".locus_ids SET max_id = 1000")
		if g, err := table.Extend(t.Context(), "orders", 5); err != nil || g.First != 1001 {
			t.Errorf("mended: %v, %v", g, err)
		}
	})
}

// Programs that don't use the version take from the same row.
func TestBesideAnotherProgram(t *testing.T) {
	each(t, func(t *testing.T, server *servers.Server, database string) {
		table := open(t, server, database)
		if err := table.Create(t.Context(), 10, "orders"); err != nil {
			t.Fatal(err)
		}
		other := server.DB(t, database)
		var all distinct.Numbers
		var takers sync.WaitGroup
		takers.Go(func() {
			for range 200 {
				result, err := other.ExecContext(t.Context(), "UPDATE locus_ids SET max_id = LAST_INSERT_ID(max_id + 1) WHERE biz_tag = 'orders'")
				if err != nil {
					t.Error(err)
					return
				}
				n, err := result.LastInsertId()
				if err != nil {
					t.Error(err)
					return
				}
				all.Add(t, uint64(n))
			}
		})
		for range 2 {
			takers.Go(func() {
				for range 100 {
					g, err := table.Extend(t.Context(), "orders", 1)
					if err != nil {
						t.Error(err)
						return
					}
					all.Add(t, g.First)
				}
			})
		}
		takers.Wait()
	})
}

// leafAlloc is the table of Leaf's documents.
const leafAlloc = `CREATE TABLE leaf_alloc (
  biz_tag varchar(128) NOT NULL DEFAULT '',
  max_id bigint(20) NOT NULL DEFAULT '1',
  step int(11) NOT NULL,
  description varchar(256) DEFAULT NULL,
  update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (biz_tag)
) ENGINE=InnoDB`

// leafTakes takes a segment as Leaf does. To Leaf, max_id is the number after the last one taken.
func leafTakes(ctx context.Context, db *sql.DB) (first, behind uint64, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = 'leaf-segment-test'"); err != nil {
		return 0, 0, err
	}
	var step uint64
	if err := tx.QueryRowContext(ctx, "SELECT max_id, step FROM leaf_alloc WHERE biz_tag = 'leaf-segment-test'").Scan(&behind, &step); err != nil {
		return 0, 0, err
	}
	return behind - step, behind, tx.Commit()
}

// A table of Leaf is used unchanged, while Leaf continues to use it, in every way.
func TestATableOfLeaf(t *testing.T) {
	each(t, func(t *testing.T, server *servers.Server, database string) {
		leaf := server.DB(t, database)
		for _, statement := range []string{leafAlloc, "INSERT INTO leaf_alloc (biz_tag, max_id, step, description) VALUES ('leaf-segment-test', 1, 20, 'Test leaf Segment Mode Get Id')"} {
			if _, err := leaf.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		var all distinct.Numbers
		var takers sync.WaitGroup
		takers.Go(func() {
			for range 60 {
				first, behind, err := leafTakes(t.Context(), leaf)
				if err != nil {
					t.Error(err)
					return
				}
				for n := first; n < behind; n++ {
					all.Add(t, n)
				}
			}
		})
		for range 2 {
			table, err := Open(server.DB(t, database), "leaf_alloc", time.Now) // as another process
			if err != nil {
				t.Fatal(err)
			}
			takers.Go(func() { all.Take(t, table.Generator("leaf-segment-test", table.Locked, nil), 40, 3) })
			takers.Go(func() {
				for range 40 {
					g, err := table.Extend(t.Context(), "leaf-segment-test", 7)
					if err != nil {
						t.Error(err)
						return
					}
					for n := g.First; n <= g.Last; n++ {
						all.Add(t, n)
					}
				}
			})
		}
		takers.Wait()
		table, err := Open(leaf, database+".leaf_alloc", time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Extend(t.Context(), "leaf-segment-test", 5); err != nil {
			t.Error(err)
		}
		server.Exec(t, "UPDATE "+database+".leaf_alloc SET max_id = 1")
		if g, err := table.Extend(t.Context(), "leaf-segment-test", 5); !errors.Is(err, segment.ErrWentBack) {
			t.Errorf("it went back, and granted %v, %v", g, err)
		}
	})
}

// Segments of a table, as a user of the library writes them.
func Example() {
	var table *Table // of row.Open(db, "locus_ids", time.Now), after Create(ctx, 1000, "orders")
	_ = func(ctx context.Context) error {
		numbers, err := segment.NewNumbers(table, "orders", 0, segment.Options{})
		if err != nil {
			return err
		}
		defer numbers.Close(ctx)
		_, err = idgen.One(ctx, numbers)
		return err
	}
}
