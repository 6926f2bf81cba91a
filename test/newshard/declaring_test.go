package newshard

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"locus/internal/test/servers"
)

// comeAndGo inserts, changes and deletes a row of one owner, and fails with any error.
func comeAndGo(ctx context.Context, t *testing.T, db *sql.DB, owner int) (turns int) {
	for ; ctx.Err() == nil; turns++ {
		for _, s := range []struct {
			text     string
			affected int64
		}{
			{fmt.Sprintf("INSERT INTO guest (uid, v) VALUES (%d, 1)", owner), 1},
			{fmt.Sprintf("UPDATE guest SET v = v + 1 WHERE uid = %d", owner), 1},
			{fmt.Sprintf("DELETE FROM guest WHERE uid = %d", owner), 1},
		} {
			r, err := db.Exec(s.text)
			if err != nil {
				t.Errorf("%s: %v", s.text, err)
				return turns
			}
			if n, _ := r.RowsAffected(); n != s.affected {
				t.Errorf("%s: %d rows, want %d", s.text, n, s.affected)
				return turns
			}
		}
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM guest WHERE uid = ?", owner).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows, %v", n, err)
			return turns
		}
	}
	return turns
}

// TestDeclarationsAmidStatements: while ALTER TABLE … COMMENT declares a table, no statement on the table fails,
// whether or not the declaration is refused.
func TestDeclarationsAmidStatements(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c := open(t, engine)
		one, other := c.db(), c.at(c.Serve("other").Addr)
		exec := func(query string) {
			t.Helper()
			if _, err := one.Exec(query); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		for round := range 3 {
			exec("CREATE TABLE guest (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid BIGINT NOT NULL, v INT NOT NULL, KEY (uid))")
			ctx, cancel := context.WithCancel(t.Context())
			var clients sync.WaitGroup
			for i, db := range []*sql.DB{one, other} {
				clients.Go(func() { t.Logf("a client: %d turns", comeAndGo(ctx, t, db, 1+i)) })
			}
			refused := 0
			for try := range 40 {
				words := "owner=uid"
				if try%4 == 3 {
					words = "owner=nobody"
				}
				_, err := one.Exec("ALTER TABLE guest COMMENT 'locus: " + words + "'")
				if err == nil {
					break
				}
				if refused++; !strings.Contains(err.Error(), "locus-1010") {
					t.Errorf("the declaration: %v", err)
				}
			}
			cancel()
			clients.Wait()
			t.Logf("round %d: refused %d times", round, refused)
			exec("DROP TABLE guest")
			_, _ = c.Locus("table", "drop", "shop.guest")
		}
	})
}
