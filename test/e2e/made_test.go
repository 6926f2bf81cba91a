package e2e

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/test/shop"
)

const goods = "(id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(20)) DEFAULT CHARSET utf8mb4"

var withGoods = shop.Options{
	Tables:       []string{"CREATE TABLE {schema}.goods " + goods, "CREATE TABLE {schema}.parts (id BIGINT NOT NULL PRIMARY KEY)"},
	Declarations: "  {schema}.goods: {kind: global}\n  {schema}.parts: {kind: global}\n",
}

// A table is made on every shard, or on none.
func TestATableIsMadeEverywhereOrNowhere(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, withGoods)
		db := s.DB(t, nil)
		has := func(shard int, table string) bool {
			return number(t, s.Shard(t, shard), "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", table) == 1
		}

		// One shard has another table of that name.
		exec(t, s.Shard(t, 1), "DROP TABLE goods")
		_, err := db.Exec("CREATE TABLE goods (id INT NOT NULL PRIMARY KEY)")
		refused(t, err, 1050, "it was made on s1 and dropped there again")
		if !has(0, "goods") || has(1, "goods") {
			t.Error("the table is not where it was")
		}
		exec(t, db, "CREATE TABLE IF NOT EXISTS goods "+goods)
		exec(t, db, "INSERT INTO goods VALUES (1, 'cup')")
		for shard := range 2 {
			if got := number(t, s.Shard(t, shard), "SELECT COUNT(*) FROM goods"); got != 1 {
				t.Errorf("s%d has %d rows", shard, got)
			}
		}

		// One shard can't make the table.
		exec(t, s.Shard(t, 1), "CREATE TABLE taken (id BIGINT PRIMARY KEY, CONSTRAINT one_only FOREIGN KEY (id) REFERENCES parts (id))")
		exec(t, db, "DROP TABLE goods")
		_, err = db.Exec("CREATE TABLE IF NOT EXISTS goods (id BIGINT PRIMARY KEY, CONSTRAINT one_only FOREIGN KEY (id) REFERENCES parts (id))")
		var e *mysql.MySQLError
		if !errors.As(err, &e) || !strings.Contains(e.Message, "on shard s1: ") || !strings.Contains(e.Message, "it was made on s0 and dropped there again") {
			t.Errorf("error %v", err)
		}
		if has(0, "goods") || has(1, "goods") {
			t.Error("the table is left on a shard")
		}
		exec(t, s.Shard(t, 1), "DROP TABLE taken")
		exec(t, db, "CREATE TABLE goods "+goods)
	})
}

// Definitions of one table that arrive at once run one after the other.
func TestDefinitionsTakeTurns(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, withGoods)
		db := s.DB(t, nil)
		at := func(text string) (done, there int) {
			errs := make([]error, 6)
			var all sync.WaitGroup
			for i := range errs {
				all.Go(func() { _, errs[i] = db.Exec(text) })
			}
			all.Wait()
			for _, err := range errs {
				var e *mysql.MySQLError
				switch {
				case err == nil:
					done++
				case errors.As(err, &e) && (e.Number == 1050 || e.Number == 1051 || e.Number == 1060):
					there++
				default:
					t.Errorf("%s: %v", text, err)
				}
			}
			return done, there
		}
		for range 2 {
			if done, there := at("DROP TABLE goods"); done != 1 || there != 5 {
				t.Errorf("%d dropped it, and %d found it gone", done, there)
			}
			if done, there := at("CREATE TABLE goods " + goods); done != 1 || there != 5 {
				t.Errorf("%d made it, and %d found it", done, there)
			}
			if done, there := at("ALTER TABLE goods ADD COLUMN size INT"); done != 1 || there != 5 {
				t.Errorf("%d added the column, and %d found it", done, there)
			}
		}
		if done, _ := at("CREATE TABLE IF NOT EXISTS goods " + goods); done != 6 {
			t.Errorf("%d of 6 made it if it was not there", done)
		}
	})
}

// An unreachable shard is noticed before any other shard has done anything.
func TestADefinitionWithAShardAway(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, withGoods)
		db := s.DB(t, nil)
		exec(t, db, "SELECT 1")
		s.TakeAway(t, "s1")
		until(t, "the shard is away", func() bool {
			var e *mysql.MySQLError
			_, err := db.Exec("ALTER TABLE goods COMMENT = 'perhaps on all shards'")
			return errors.As(err, &e) && strings.Contains(e.Message, "nothing was done on any shard")
		})
		_, err := db.Exec("ALTER TABLE goods ADD COLUMN size INT")
		refused(t, err, 1158, "nothing was done on any shard")
		if got := columns(t, s.Shard(t, 0)); got != 0 {
			t.Errorf("s0 has the column")
		}
		s.Apply(s.Cluster)
		until(t, "the shard is back", func() bool {
			_, err := db.Exec("ALTER TABLE goods ADD COLUMN size INT")
			return err == nil
		})
	})
}

func columns(t *testing.T, db *sql.DB) int64 {
	return number(t, db, "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'goods' AND COLUMN_NAME = 'size'")
}
