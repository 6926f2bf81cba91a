//go:build servers

package trust

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/test/cluster"
	"locus/test/product"
)

// While a trigger that assigns a user variable is created and dropped again and again, clients of two proxies insert into its table. The
// variable always has the value of the session's own last row that the trigger saw, and never that of another session.
func TestTriggersThatAssignVariables(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := cluster.Start(t, engine, cluster.Options{Shards: 2, UserFields: ", admin: true"})
		var dbs []*sql.DB
		for _, name := range []string{"one", "two"} {
			db := cluster.Open(cluster.Config(c.Serve(name).Addr))
			defer db.Close()
			db.SetMaxIdleConns(0) // a client's session ends when it gives its connection back
			dbs = append(dbs, db)
		}
		run := func(proxy int, text string) {
			t.Helper()
			if _, err := dbs[proxy].ExecContext(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		run(0, "CREATE TABLE notes (id BIGINT AUTO_INCREMENT PRIMARY KEY, token INT NOT NULL, seen INT NOT NULL DEFAULT 0)")
		var stop atomic.Bool
		var seen [2]atomic.Int64 // rows without and with the trigger
		var clients sync.WaitGroup
		defer clients.Wait()
		defer stop.Store(true)
		for i := range 12 {
			clients.Go(func() {
				for session := 0; !stop.Load(); session++ {
					if err := insertNotes(t.Context(), dbs[i%2], i*1_000_000+session*100, &stop, &seen); err != nil && !t.Failed() {
						t.Errorf("client %d: %v", i, err)
						return
					}
				}
			})
		}
		more := func(which int) {
			t.Helper()
			before := seen[which].Load()
			product.Eventually(t, "clients insert", func() bool { return t.Failed() || seen[which].Load() > before+20 })
		}
		for round := range scale.Of(10, 300) {
			more(0)
			run(round%2, "CREATE TRIGGER noted BEFORE INSERT ON notes FOR EACH ROW BEGIN SET NEW.seen = 1; SET @token = NEW.token; END")
			more(1)
			run(round/2%2, "DROP TRIGGER noted")
			if t.Failed() {
				return
			}
		}
	})
}

// insertNotes inserts rows with tokens from first on in one session, and checks the variable after each.
func insertNotes(ctx context.Context, db *sql.DB, first int, stop *atomic.Bool, seen *[2]atomic.Int64) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	var want sql.NullInt64
	for token := int64(first) + 1; token < int64(first)+8 && !stop.Load(); token++ {
		done, err := c.ExecContext(ctx, fmt.Sprintf("INSERT INTO notes (token) VALUES (%d)", token))
		if err != nil {
			return err
		}
		id, err := done.LastInsertId()
		if err != nil {
			return err
		}
		var by int
		if err := c.QueryRowContext(ctx, fmt.Sprintf("SELECT seen FROM notes WHERE id = %d", id)).Scan(&by); err != nil {
			return err
		}
		if by == 1 {
			want = sql.NullInt64{Int64: token, Valid: true}
		}
		var got sql.NullInt64
		if err := c.QueryRowContext(ctx, "SELECT @token").Scan(&got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("after row %d, seen by the trigger: %d, @token is %v, want %v", token, by, got, want)
		}
		seen[by].Add(1)
	}
	return nil
}
