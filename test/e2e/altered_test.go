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

	"locus/internal/test/servers"
	"locus/test/shop"
)

// waits are the durations of statements, by the phase in which they ran.
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

// answered is the number of statements that were answered in a phase.
func (w *waits) answered(phase string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.took[phase])
}

func (w *waits) tell(t *testing.T, who string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for phase, took := range w.took {
		slices.Sort(took)
		t.Logf("%s, %s: %d statements, median %v, p99 %v, longest %v", who, phase, len(took), took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	}
}

// customers are clients of both shards that use a table with the columns that it had at first. None of their
// statements may fail.
type customers struct {
	t       *testing.T
	on      [2]*waits // by the shard of the rows that they query
	stop    context.CancelFunc
	running sync.WaitGroup
}

func openCustomers(t *testing.T, db *sql.DB) *customers {
	t.Helper()
	exec(t, db, "CREATE TABLE basket (owner INT NOT NULL, n INT NOT NULL, note VARCHAR(20), PRIMARY KEY (owner, n)) COMMENT 'locus: owner=owner'")
	ctx, stop := context.WithCancel(t.Context())
	c := &customers{t: t, stop: stop, on: [2]*waits{{took: map[string][]time.Duration{}}, {took: map[string][]time.Duration{}}}}
	c.enter("at first")
	for i := range 16 {
		c.running.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond) // slow enough that the test detects statements that wait for locks, and not a busy machine
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
					if _, err := db.ExecContext(ctx, text); err != nil && ctx.Err() == nil {
						t.Errorf("%s: %v", text, err)
						return
					}
					c.on[i%2].note(time.Since(began))
				}
			}
		})
	}
	return c
}

func (c *customers) enter(phase string) {
	for _, w := range c.on {
		w.phase.Store(&phase)
	}
}

// more waits until customers of a shard have received so many answers in a phase.
func (c *customers) more(shard int, phase string, answers int) {
	c.t.Helper()
	until(c.t, "customers of s"+fmt.Sprint(shard)+" go on", func() bool { return c.on[shard].answered(phase) >= answers || c.t.Failed() })
}

func (c *customers) leave() {
	c.stop()
	c.running.Wait()
}

// Definitions run through the proxy while another session holds the table on one shard. No statement fails, those of
// the other shard continue, and both shards have the definition when it returns.
func TestATableIsAlteredWhileItIsHeld(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // most of its time it waits
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		c := openCustomers(t, db)
		defer c.leave()
		for shard := range c.on {
			c.more(shard, "at first", 32)
		}
		for _, text := range []string{
			"ALTER TABLE basket MODIFY COLUMN note VARCHAR(60)",
			"ALTER TABLE basket ADD COLUMN tint INT, ADD KEY (note)",
			"ALTER TABLE basket CHANGE tint shade BIGINT",
			"ALTER TABLE basket DROP COLUMN shade",
			"CREATE INDEX later ON basket (note, n)",
			"TRUNCATE TABLE basket",
		} {
			c.enter(text)
			letGo := hold(t, s, 1, "basket")
			defer letGo()
			var altered sync.WaitGroup
			altered.Go(func() {
				if _, err := db.Exec(text); err != nil {
					t.Errorf("%s: %v", text, err)
				}
			})
			until(t, "it waits for the table", func() bool {
				return number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE '%metadata lock%'") > 0 || t.Failed()
			})
			if err := s.Proxy.RereadNow(t.Context()); err != nil { // so that a difference between shards would be detected
				t.Error(err)
			}
			waiting := text + ", while it waits"
			c.enter(waiting)
			for shard := range c.on {
				c.more(shard, waiting, 48)
			}
			letGo()
			altered.Wait()
		}
		for shard := range s.Servers {
			if got := number(t, s.Shard(t, shard), "SELECT CHARACTER_MAXIMUM_LENGTH FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'basket' AND COLUMN_NAME = 'note'"); got != 60 {
				t.Errorf("s%d: notes have %d letters", shard, got)
			}
			if got := columnsOn(t, s, shard, "basket", "tint") + columnsOn(t, s, shard, "basket", "shade"); got != 0 {
				t.Errorf("s%d has the column that was dropped", shard)
			}
			if got := number(t, s.Shard(t, shard), "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'basket' AND INDEX_NAME IN ('note', 'later')"); got != 3 {
				t.Errorf("s%d: the indexes have %d columns", shard, got)
			}
		}
		c.leave()
	})
}

// If a session holds a table for longer than another one waits for locks, the definition fails without a change on
// any shard, and statements on the table continue.
func TestATableIsHeldForTooLong(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // most of its time it waits
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		c := openCustomers(t, db)
		defer c.leave()
		for shard := range c.on {
			c.more(shard, "at first", 16)
		}
		letGo := hold(t, s, 1, "basket")
		defer letGo()
		one, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		var id int64
		if err := one.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		var killed sync.WaitGroup
		killed.Go(func() {
			_, err := one.ExecContext(t.Context(), "ALTER TABLE basket MODIFY COLUMN note VARCHAR(60)")
			refused(t, err, 1317, "nothing was done on any shard")
		})
		until(t, "it waits for the table", func() bool {
			return number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'LOCK TABLES%'") > 0 || t.Failed()
		})
		exec(t, db, fmt.Sprintf("KILL QUERY %d", id))
		killed.Wait()
		if _, err := one.ExecContext(t.Context(), "SET lock_wait_timeout = 1"); err != nil {
			t.Fatal(err)
		}
		_, err = one.ExecContext(t.Context(), "ALTER TABLE basket MODIFY COLUMN note VARCHAR(60)")
		refused(t, err, 1205, "nothing was done on any shard")
		_, err = one.ExecContext(t.Context(), "CREATE INDEX later ON basket (note)")
		refused(t, err, 1205, "it was done on s0")
		c.enter("afterwards")
		for shard := range c.on {
			c.more(shard, "afterwards", 16)
		}
		letGo()
		exec(t, db, "CREATE INDEX later ON basket (note)")
		exec(t, db, "ALTER TABLE basket MODIFY COLUMN note VARCHAR(60)")
		c.leave()
	})
}
