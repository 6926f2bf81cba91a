package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// shoppers are clients that put things into baskets and read them, until they are stopped.
type shoppers struct {
	t       *testing.T
	stop    context.CancelFunc
	running sync.WaitGroup
	rounds  atomic.Int64
	on      [2]atomic.Int64 // rounds of owners on each shard
}

// owners lists some owners of each shard.
var owners = [2][]int64{{1, 42, -1}, {0, 10001}}

// openBaskets makes tables, and lets clients use them with both protocols. None of their statements may fail.
func openBaskets(t *testing.T, s *shop.Shop, clients int) (db *sql.DB, all *shoppers) {
	t.Helper()
	db = s.DB(t, nil)
	text := s.DB(t, func(c *mysql.Config) { c.InterpolateParams = true })
	exec(t, db, "CREATE TABLE basket (owner INT NOT NULL, n INT NOT NULL, note VARCHAR(20), PRIMARY KEY (owner, n)) COMMENT 'locus: owner=owner'")
	exec(t, db, "CREATE TABLE shelf (n INT NOT NULL PRIMARY KEY, name VARCHAR(20)) COMMENT 'locus: global'")
	exec(t, db, "INSERT INTO shelf VALUES (-1, 'a')")
	ctx, cancel := context.WithCancel(t.Context())
	all = &shoppers{t: t, stop: cancel}
	for i := range clients {
		by := []*sql.DB{db, text}[i%2]
		all.running.Go(func() {
			pace := time.NewTicker(40 * time.Millisecond) // slow enough that the test detects statements that wait for locks, and not a busy machine
			defer pace.Stop()
			for n := i; ctx.Err() == nil; n += clients {
				<-pace.C
				on := i / 2 % 2
				if err := shops(ctx, by, owners[on][n%len(owners[on])], n); err != nil && ctx.Err() == nil && !all.lacksValues(s, err) {
					t.Errorf("client %d: %v", i, err)
					return
				}
				all.rounds.Add(1)
				all.on[on].Add(1)
			}
		})
	}
	return db, all
}

// lacksValues matches the error of an INSERT without a list of columns, if the table has another visible column on
// every shard by now.
func (all *shoppers) lacksValues(s *shop.Shop, err error) bool {
	e, is := errors.AsType[*mysql.MySQLError](err)
	if !is || e.Number != 1136 {
		return false
	}
	for i := range s.Servers {
		if number(all.t, s.Shard(all.t, i), "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND COLUMN_NAME IN ('colour', 'height') AND EXTRA NOT LIKE '%INVISIBLE%'") == 0 {
			return false
		}
	}
	return true
}

// more waits until all clients, or those of one shard, have made progress.
func (all *shoppers) more(count *atomic.Int64, rounds int64) {
	all.t.Helper()
	from := count.Load()
	until(all.t, "clients go on", func() bool { return count.Load() >= from+rounds || all.t.Failed() })
}

func (all *shoppers) leave() {
	all.stop()
	all.running.Wait()
}

// shops is one round. Columns that are added later come after the original ones.
func shops(ctx context.Context, db *sql.DB, owner int64, n int) error {
	for _, q := range []struct {
		text string
		args []any
	}{
		{"INSERT INTO basket VALUES (?, ?, 'x')", []any{owner, n}},
		{"INSERT INTO shelf VALUES (?, 'b')", []any{n}},
		{"UPDATE basket SET note = 'y' WHERE owner = ? AND n = ?", []any{owner, n}},
	} {
		if _, err := db.ExecContext(ctx, q.text, q.args...); err != nil {
			return fmt.Errorf("%s: %w", q.text, err)
		}
	}
	for _, q := range []struct {
		text string
		args []any
	}{
		{"SELECT * FROM basket WHERE owner = ? AND n = ?", []any{owner, n}},
		{"SELECT * FROM basket ORDER BY owner, n LIMIT 3", nil},
		{"SELECT * FROM (SELECT * FROM basket WHERE n = ? ORDER BY note LIMIT 3) b", []any{n}},
		{"SELECT b.*, name FROM basket b JOIN shelf s ON s.n = -1 WHERE b.owner = ? LIMIT 2", []any{owner}},
		{"SELECT note, COUNT(*) FROM basket WHERE n = ? GROUP BY note", []any{n}},
	} {
		if err := reads(ctx, db, q.text, q.args...); err != nil {
			return fmt.Errorf("%s: %w", q.text, err)
		}
	}
	_, err := db.ExecContext(ctx, "DELETE FROM basket WHERE owner = ? AND n = ?", owner, n-1000)
	return err
}

// reads reads rows, and checks that each has as many values as there are columns.
func reads(ctx context.Context, db *sql.DB, text string, args ...any) error {
	list, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer list.Close()
	names, err := list.Columns()
	if err != nil {
		return err
	}
	if len(names) > 2 && names[2] != "note" {
		return fmt.Errorf("the columns are %q", names)
	}
	values := make([]any, len(names))
	for i := range values {
		values[i] = new(sql.NullString)
	}
	n := 0
	for ; list.Next(); n++ {
		if err := list.Scan(values...); err != nil {
			return err
		}
	}
	if n == 0 {
		return errors.New("it has no rows")
	}
	return list.Err()
}

// hold keeps a table of a shard locked, as a transaction that has read it, until it is released.
func hold(t *testing.T, s *shop.Shop, shard int, table string) (letGo func()) {
	t.Helper()
	tx, err := s.Shard(t, shard).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("SELECT 1 FROM " + table + " LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	return func() { _ = tx.Rollback() }
}

func columnsOn(t *testing.T, s *shop.Shop, shard int, table, column string) int64 {
	t.Helper()
	return number(t, s.Shard(t, shard), "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND COLUMN_NAME = ?", table, column)
}

// ALTER TABLE … ADD COLUMN runs through the proxy while another session holds the table on one shard. No statement
// fails, those of the other shard continue, and the columns exist when the statement returns.
func TestAColumnIsAddedWhileTheTableIsUsed(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db, all := openBaskets(t, s, 16)
		defer all.leave()
		all.more(&all.rounds, 32)
		letGo := hold(t, s, 1, "basket")
		defer letGo()
		var altered sync.WaitGroup
		altered.Go(func() {
			if _, err := db.Exec("ALTER TABLE basket ADD COLUMN colour VARCHAR(10) NOT NULL DEFAULT 'red', ADD COLUMN changed TIMESTAMP NULL DEFAULT CURRENT_TIMESTAMP AFTER note"); err != nil {
				t.Errorf("ALTER TABLE: %v", err)
			}
		})
		until(t, "the free shard has the column", func() bool { return columnsOn(t, s, 0, "basket", "colour") == 1 })
		all.more(&all.on[0], 40)
		all.more(&all.rounds, 40)
		if got := columnsOn(t, s, 1, "basket", "colour"); got != 0 {
			t.Error("the shard that is held has it too")
		}
		if got := rows(t, db, "SELECT * FROM basket LIMIT 1"); len(got) != 1 || len(fieldsOf(t, db, "basket")) != 3 {
			t.Errorf("before all have it, all columns are %q", fieldsOf(t, db, "basket"))
		}
		letGo()
		altered.Wait()
		if got, want := fieldsOf(t, db, "basket"), []string{"owner", "n", "note", "changed", "colour"}; !slices.Equal(got, want) {
			t.Errorf("then they are %q", got)
		}
		exec(t, db, "ALTER TABLE shelf ADD COLUMN height INT NOT NULL DEFAULT 3")
		all.more(&all.rounds, 16)
		all.leave()
		if got := number(t, db, "SELECT COUNT(*) FROM basket WHERE colour <> 'red'") + number(t, db, "SELECT COUNT(*) FROM shelf WHERE height <> 3"); got != 0 {
			t.Errorf("%d rows have another default", got)
		}
		_, err := db.Exec("INSERT INTO basket VALUES (1, -9, 'x')")
		refused(t, err, 1136, "")
		_, err = db.Exec("ALTER TABLE basket ADD COLUMN colour INT")
		refused(t, err, 1060, "colour")
	})
}

// An operator adds a column on one shard after the other. No statement fails, also while only one shard has it.
func TestAColumnIsAddedByHand(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db, all := openBaskets(t, s, 16)
		defer all.leave()
		all.more(&all.rounds, 32)
		for _, shard := range []int{1, 0} {
			exec(t, s.Shard(t, shard), "ALTER TABLE basket ADD COLUMN colour VARCHAR(10) NOT NULL DEFAULT 'red'")
			exec(t, s.Shard(t, shard), "ALTER TABLE shelf ADD COLUMN height INT")
			all.more(&all.rounds, 48)
		}
		until(t, "the columns are shown", func() bool { s.Proxy.Reread(); return len(fieldsOf(t, db, "basket")) == 4 })
		all.leave()
		if got := number(t, db, "SELECT COUNT(*) FROM basket WHERE colour <> 'red'"); got != 0 {
			t.Errorf("%d rows have another default", got)
		}
	})
}

// fieldsOf are the columns that a table shows to who reads all shards.
func fieldsOf(t *testing.T, db *sql.DB, table string) []string {
	t.Helper()
	list, err := db.Query("SELECT * FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	names, err := list.Columns()
	if err != nil {
		t.Fatal(err)
	}
	return names
}
