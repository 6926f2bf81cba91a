//go:build long

package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/shop"
)

// waits are how long statements took, by what went on meanwhile.
type waits struct {
	mu    sync.Mutex
	phase atomic.Pointer[string]
	took  map[string][]time.Duration
}

func (w *waits) note(took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took[*w.phase.Load()] = append(w.took[*w.phase.Load()], took)
}

func (w *waits) tell(t *testing.T, who string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for phase, took := range w.took {
		slices.Sort(took)
		t.Logf("%s, %s: %d statements, median %v, p99 %v, longest %v", who, phase, len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	}
}

// A table of one shard is held for 30 s, by who reads it in a transaction, while a column is added through the proxy, and then while it
// is added by hand on one shard after the other. No statement of 16 clients fails. What those of the other shard wait is told.
func TestATableIsHeldForLong(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		exec(t, db, "CREATE TABLE basket (owner INT NOT NULL, n INT NOT NULL, note VARCHAR(20), PRIMARY KEY (owner, n)) COMMENT 'locus: owner=owner'")
		usual := "nothing held"
		each := [2]*waits{{took: map[string][]time.Duration{}}, {took: map[string][]time.Duration{}}}
		enter := func(phase string) {
			for _, w := range each {
				w.phase.Store(&phase)
			}
		}
		enter(usual)
		ctx, stop := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		for i := range 16 {
			clients.Go(func() {
				pace := time.NewTicker(20 * time.Millisecond)
				defer pace.Stop()
				for n := i; ctx.Err() == nil; n += 16 {
					<-pace.C
					owner := owners[i%2][n%len(owners[i%2])]
					for _, text := range []string{
						fmt.Sprintf("INSERT INTO basket (owner, n, note) VALUES (%d, %d, 'x')", owner, n),
						fmt.Sprintf("SELECT * FROM basket WHERE owner = %d AND n = %d", owner, n),
						fmt.Sprintf("UPDATE basket SET note = 'y' WHERE owner = %d AND n = %d", owner, n),
					} {
						began := time.Now()
						if err := passes(ctx, db, text); err != nil && ctx.Err() == nil {
							t.Errorf("%s: %v", text, err)
							return
						}
						each[i%2].note(time.Since(began))
					}
				}
			})
		}
		holds := func(seconds int) *sync.WaitGroup {
			var held sync.WaitGroup
			until(t, "there are rows", func() bool { return number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM basket") > 0 })
			held.Go(func() {
				if _, err := s.Shard(t, 1).Exec(fmt.Sprintf("SELECT n, SLEEP(%d) FROM (SELECT n FROM basket LIMIT 1) AS one LOCK IN SHARE MODE", seconds)); err != nil {
					t.Error(err)
				}
			})
			until(t, "the table is held", func() bool {
				return number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT n, SLEEP%'") == 1
			})
			return &held
		}
		holds(30).Wait() // a reader holds up nobody: what is usual
		enter("ALTER TABLE while s1's table is held")
		held := holds(30)
		exec(t, db, "ALTER TABLE basket ADD COLUMN colour VARCHAR(10) NOT NULL DEFAULT 'red'")
		held.Wait()
		enter("by hand, s0 first, while s1's table is held")
		held = holds(30)
		exec(t, s.Shard(t, 0), "ALTER TABLE basket ADD COLUMN height INT NOT NULL DEFAULT 3")
		exec(t, s.Shard(t, 1), "ALTER TABLE basket ADD COLUMN height INT NOT NULL DEFAULT 3")
		held.Wait()
		enter("afterwards")
		until(t, "both columns are there", func() bool { return len(fieldsOf(t, db, "basket")) == 5 })
		stop()
		clients.Wait()
		each[0].tell(t, "s0")
		each[1].tell(t, "s1")
	})
}

func passes(ctx context.Context, db *sql.DB, text string) error {
	_, err := db.ExecContext(ctx, text)
	return err
}
