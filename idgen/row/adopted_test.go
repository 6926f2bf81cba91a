//go:build servers

package row

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"locus/idgen"
	"locus/idgen/segment"
	"locus/internal/test/distinct"
	"locus/internal/test/servers"
)

// Tables of other programs, which go on to take from them in their own ways: no number twice, whatever the value is to them.
func TestAdoptedBesideTheirPrograms(t *testing.T) {
	each(t, func(t *testing.T, server *servers.Server, database string) {
		server.Exec(t, "USE "+database, "CREATE TABLE t_id_provider (max_id BIGINT NOT NULL, upd_time DATETIME)", "INSERT INTO t_id_provider VALUES (5000, NOW())",
			"CREATE TABLE xx_rowbased_sequence (owner_key VARCHAR(64) NOT NULL PRIMARY KEY, current_value BIGINT NOT NULL)",
			"INSERT INTO xx_rowbased_sequence VALUES ('SN', 0), ('other', 7)")
		provider := Shape{Table: database + ".t_id_provider", Value: "max_id"}
		rowbased := Shape{Table: database + ".xx_rowbased_sequence", Value: "current_value", Key: "owner_key", Row: "SN"}
		for _, c := range []struct {
			name  string
			shape Shape
			holds []Holds
			take  func(ctx context.Context) (uint64, error)
		}{
			{"compare and swap", provider, []Holds{HoldsLast, HoldsEither}, func(ctx context.Context) (uint64, error) {
				db := server.DB(t, database)
				for {
					var old uint64
					if err := db.QueryRowContext(ctx, "SELECT max_id FROM t_id_provider").Scan(&old); err != nil {
						return 0, err
					}
					result, err := db.ExecContext(ctx, "UPDATE t_id_provider SET max_id = ?, upd_time = NOW() WHERE max_id = ?", old+1, old)
					if err != nil {
						return 0, err
					}
					if n, _ := result.RowsAffected(); n == 1 {
						return old + 1, nil
					}
				}
			}},
			{"add and read", rowbased, []Holds{HoldsLast, HoldsEither}, taking(server, t, database, "last")},
			{"read and add", rowbased, []Holds{HoldsNext, HoldsEither}, taking(server, t, database, "next")},
		} {
			for _, holds := range c.holds {
				t.Run(fmt.Sprint(c.name, " ", holds), func(t *testing.T) {
					var all distinct.Numbers
					var takers sync.WaitGroup
					for range 2 {
						c.shape.Holds = holds
						a, err := Adopt(server.DB(t, database), c.shape) // as another process
						if err != nil {
							t.Fatal(err)
						}
						takers.Go(func() { all.Take(t, a.Generator(nil), 30, 3) })
						takers.Go(func() { all.Take(t, a.Generator(NewLocal()), 30, 1) })
						takers.Go(func() {
							all.Take(t, idgen.Run{Take: func(ctx context.Context, _ int) (uint64, error) { return c.take(ctx) }, Most: 1}, 40, 1)
						})
					}
					takers.Wait()
				})
			}
		}
		var other int
		if err := server.DB(t, database).QueryRow("SELECT current_value FROM xx_rowbased_sequence WHERE owner_key = 'other'").Scan(&other); err != nil || other != 7 {
			t.Errorf("another row is %d, %v", other, err)
		}
	})
}

// taking returns a program that locks the row. It either adds and then uses the value that it reads, or uses
// the value that it reads and then adds.
func taking(server *servers.Server, t *testing.T, database, holds string) func(context.Context) (uint64, error) {
	return func(ctx context.Context) (n uint64, err error) {
		tx, err := server.DB(t, database).BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		statements := []string{"UPDATE xx_rowbased_sequence SET current_value = current_value + 1 WHERE owner_key = 'SN'", "SELECT current_value FROM xx_rowbased_sequence WHERE owner_key = 'SN' FOR UPDATE"}
		if holds == "next" {
			statements[0], statements[1] = statements[1], statements[0]
		}
		for _, s := range statements {
			if strings.HasPrefix(s, "SELECT") {
				err = tx.QueryRowContext(ctx, s).Scan(&n)
			} else {
				_, err = tx.ExecContext(ctx, s)
			}
			if err != nil {
				return 0, errors.Join(err, tx.Rollback())
			}
		}
		return n, tx.Commit()
	}
}

// A row that is missing, ambiguous, set back or exhausted returns no number.
func TestAdoptedRefuses(t *testing.T) {
	each(t, func(t *testing.T, server *servers.Server, database string) {
		server.Exec(t, "USE "+database, "CREATE TABLE p (max_id BIGINT NOT NULL)")
		a, err := Adopt(server.DB(t, database), Shape{Table: database + ".p", Value: "max_id"})
		if err != nil {
			t.Fatal(err)
		}
		refuse := func(why string, is error, text string) {
			t.Helper()
			if g, err := a.Extend(t.Context(), "", 1); err == nil || is != nil && !errors.Is(err, is) || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, %v", why, g, err)
			}
		}
		refuse("no row", segment.ErrUnknownTag, "the row is not there")
		server.Exec(t, "INSERT INTO "+database+".p VALUES (100)")
		if g, err := a.Extend(t.Context(), "", 2); err != nil || g != (segment.Grant{First: 101, Last: 102}) {
			t.Errorf("%v, %v", g, err)
		}
		server.Exec(t, "UPDATE "+database+".p SET max_id = 50")
		refuse("set back", segment.ErrWentBack, "set it above every number in use")
		server.Exec(t, "UPDATE "+database+".p SET max_id = 9223372036854775806")
		refuse("at its end", idgen.ErrOutOfRange, "numbers end at")
		server.Exec(t, "INSERT INTO "+database+".p VALUES (1)")
		refuse("two rows", nil, "it has several rows")
		if _, err := Adopt(server.DB(t, database), Shape{Table: database + ".p", Value: "max_id`"}); err == nil {
			t.Error("a name with a quote is accepted")
		}
	})
}
