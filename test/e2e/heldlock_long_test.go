//go:build long

package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// A transaction holds a table of one shard for 30 s while definitions run through the proxy, and then while a column
// is added by hand on one shard after the other. No statement of 16 clients fails, and those of the other shard are
// answered. The test logs how long statements wait; make bench judges it.
func TestATableIsHeldForLong(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		c := openCustomers(t, db)
		defer c.leave()
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
		c.enter("while a reader holds the table")
		holds(30).Wait() // the reader delays no client, so this measures the usual times
		for _, text := range []string{
			"ALTER TABLE basket ADD COLUMN colour VARCHAR(10) NOT NULL DEFAULT 'red'",
			"ALTER TABLE basket MODIFY COLUMN note VARCHAR(60)",
			"ALTER TABLE basket CHANGE colour tint VARCHAR(10)",
			"ALTER TABLE basket DROP COLUMN tint",
			"ALTER TABLE basket ADD INDEX (note)",
		} {
			phase := text + ", while s1's table is held"
			held := holds(30)
			c.enter(phase)
			exec(t, db, text)
			held.Wait()
			c.enter("afterwards")
			for shard, answers := range [2]int{100, 1} {
				if got := c.on[shard].answered(phase); got < answers {
					t.Errorf("%s: %d statements of s%d were answered", phase, got, shard)
				}
			}
		}
		c.enter("by hand, s0 first, while s1's table is held")
		held := holds(30)
		exec(t, s.Shard(t, 0), "ALTER TABLE basket ADD COLUMN height INT NOT NULL DEFAULT 3")
		exec(t, s.Shard(t, 1), "ALTER TABLE basket ADD COLUMN height INT NOT NULL DEFAULT 3")
		held.Wait()
		c.enter("afterwards")
		until(t, "the column is there", func() bool { s.Proxy.Reread(); return len(fieldsOf(t, db, "basket")) == 4 })
		c.leave()
		c.on[0].tell(t, "s0")
		c.on[1].tell(t, "s1")
	})
}

// A table is held for longer than a server keeps an idle connection. The definitions continue to wait, and are made
// on every shard when the table is released.
func TestATableIsHeldForMoreThanAMinute(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // it waits
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		texts := []string{
			"ALTER TABLE %s MODIFY COLUMN note VARCHAR(60)", "ALTER TABLE %s ADD COLUMN tint INT", "CREATE INDEX later ON %s (note)", "TRUNCATE TABLE %s", "RENAME TABLE %s TO renamed",
		}
		var made sync.WaitGroup
		for i, text := range texts {
			table := fmt.Sprintf("held%d", i)
			exec(t, db, "CREATE TABLE "+table+" (owner INT NOT NULL PRIMARY KEY, note VARCHAR(20)) COMMENT 'locus: owner=owner'")
			letGo := hold(t, s, 1, table)
			defer letGo()
			time.AfterFunc(75*time.Second, letGo)
			made.Go(func() {
				if _, err := db.Exec(fmt.Sprintf(text, table)); err != nil {
					t.Errorf(text+": %v", table, err)
				}
			})
		}
		made.Wait()
		for shard := range s.Servers {
			if got := columnsOn(t, s, shard, "held1", "tint") + columnsOn(t, s, shard, "renamed", "note"); got != 2 {
				t.Errorf("s%d has %d of what was made", shard, got)
			}
		}
	})
}
