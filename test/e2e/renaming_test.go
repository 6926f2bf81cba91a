package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router/catalog"
	"locus/test/shop"
)

// visit is numbered by the cluster, and has no column of its own for the gene.
const visit = "(n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, guest BIGINT NOT NULL, page VARCHAR(20), KEY (guest))"

// twoProxies are a shop's proxy and another one, which notify each other of definitions.
func twoProxies(t *testing.T, engine servers.Engine) (s *shop.Shop, dbs [2]*sql.DB) {
	t.Helper()
	var second *proxy.Proxy
	var options proxy.Options
	s = shop.Start(t, engine, shop.Options{Options: func(o *proxy.Options) {
		o.Redefined = func(ctx context.Context, change catalog.Change) error { return second.RereadChanged(ctx, change) }
		o.Settled = func(ctx context.Context, change catalog.Change) error { return second.Settle(ctx, change) }
		o.Renumbered = func(ctx context.Context, counted catalog.Change) error { return second.Renumber(ctx, counted) }
		options = *o
	}})
	options.Name, options.Redefined, options.Settled, options.Renumbered = "second", s.Proxy.RereadChanged, s.Proxy.Settle, s.Proxy.Renumber
	var addr string
	second, addr = shop.Serve(t, options)
	return s, [2]*sql.DB{s.DB(t, nil), s.DB(t, func(c *mysql.Config) { c.Addr = addr })}
}

// namesWriter inserts into a table by whichever of two names exists, and records the numbers that it gets.
type namesWriter struct {
	db     *sql.DB
	names  [2]string
	guest  int
	given  []int64
	absent int     // number of errors about a missing table, or about a rename
	other  []error // neither that there is no such table now, nor that it is being renamed
}

func (w *namesWriter) run(stop <-chan struct{}) {
	for i := 0; paced(stop); i++ {
		r, err := w.db.Exec(fmt.Sprintf("INSERT INTO %s (guest, page) VALUES (%d, 'x')", w.names[i/3%2], w.guest))
		if err == nil {
			n, _ := r.LastInsertId()
			w.given = append(w.given, n)
			continue
		}
		e, is := errors.AsType[*mysql.MySQLError](err)
		if !is || e.Number != 1146 && !strings.Contains(e.Message, "is being renamed") {
			w.other = append(w.other, err)
			continue
		}
		w.absent++
	}
}

// A client that writes while tables are renamed gets an error, or its row is stored: no row is lost, on the wrong
// shard, or numbered twice.
func TestTablesAreRenamedUnderTheirWriters(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // most of its time it waits
		s, dbs := twoProxies(t, engine)
		exec(t, dbs[0], "CREATE TABLE visit "+visit+" COMMENT 'locus: owner=guest'")
		exec(t, dbs[0], "CREATE TABLE basket (n BIGINT NOT NULL PRIMARY KEY, guest BIGINT NOT NULL, page VARCHAR(20), KEY (guest)) COMMENT 'locus: owner=guest id=n'")
		pairs := [][2]string{{"visit", "seen"}, {"basket", "bag"}}
		var all []*namesWriter
		var running sync.WaitGroup
		stop := make(chan struct{})
		for i := range 8 {
			w := &namesWriter{db: dbs[i%2], names: pairs[i/2%2], guest: i / 4}
			all = append(all, w)
			running.Go(func() { w.run(stop) })
		}
		for i := range 4 {
			from, to := i%2, 1-i%2
			exec(t, dbs[i/2%2], fmt.Sprintf("RENAME TABLE %s TO %s, %s TO %s", pairs[0][from], pairs[0][to], pairs[1][from], pairs[1][to]))
		}
		close(stop)
		running.Wait()
		for i, name := range []string{"visit", "basket"} {
			seen, want := map[int64]bool{}, [2]int{}
			for _, w := range all {
				for _, err := range w.other {
					t.Errorf("a writer hears %v", err)
				}
				if w.other = nil; w.names[0] != name {
					continue
				}
				want[w.guest] += len(w.given)
				for _, n := range w.given {
					if seen[n] {
						t.Errorf("%s: %d was given twice", name, n)
					}
					seen[n] = true
				}
			}
			for guest, rows := range want {
				if got := number(t, dbs[i], "SELECT COUNT(*) FROM "+name+" WHERE guest = ?", guest); got != int64(rows) {
					t.Errorf("%s: guest %d has %d rows, and %d were written", name, guest, got, rows)
				}
			}
			if want[0]+want[1] == 0 {
				t.Errorf("nothing was written into %s", name)
			}
			if placedOn(t, s, name) != "01" || placedOn(t, s, pairs[i][1]) != "" || declared(s, pairs[i][1]) != "no" {
				t.Errorf("%s is on %s, %s on %s", name, placedOn(t, s, name), pairs[i][1], placedOn(t, s, pairs[i][1]))
			}
		}
	})
}

// A table that takes another one's name gets none of its numbers, and numbers that were issued are not issued again
// though their rows are deleted.
func TestNumbersGoOnUnderAnotherName(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		insert := func(table string) int64 {
			n, err := exec(t, db, "INSERT INTO "+table+" (guest, page) VALUES (7, 'x')").LastInsertId()
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		exec(t, db, "CREATE TABLE visit "+visit+" COMMENT 'locus: owner=guest'")
		for range 5 {
			insert("visit")
		}
		exec(t, db, "CREATE TABLE visit_new LIKE visit")
		if got := insert("visit_new"); got != 1 {
			t.Errorf("the first number of a new table is %d", got)
		}
		exec(t, db, "DELETE FROM visit_new WHERE guest = 7")
		exec(t, db, "INSERT INTO visit_new (n, guest, page) SELECT n, guest, page FROM visit WHERE guest = 7")
		exec(t, db, "DELETE FROM visit_new WHERE guest = 7 AND n > 2")
		exec(t, db, "RENAME TABLE visit TO visit_old, visit_new TO visit")
		if got := insert("visit"); got != 6 {
			t.Errorf("after the explicit 5 comes %d", got)
		}
		if got := insert("visit_old"); got != 6 {
			t.Errorf("after the former table's 5 comes %d", got)
		}
		exec(t, db, "DELETE FROM visit_old WHERE guest = 7")
		exec(t, db, "ALTER TABLE visit_old RENAME TO visit_older")
		if got := insert("visit_older"); got != 7 {
			t.Errorf("a number is given again, or left out: %d", got)
		}
		for table, want := range map[string]int64{"visit": 3, "visit_older": 1} {
			if got := number(t, db, "SELECT COUNT(*) FROM "+table+" WHERE guest = 7"); got != want {
				t.Errorf("%s has %d rows, want %d", table, got, want)
			}
			if got := placedOn(t, s, table) + declared(s, table); got != "01owner=guest" {
				t.Errorf("%s: %s", table, got)
			}
		}
	})
}

// If a proxy ends during a rename, the table is refused, and the same statement completes the rename.
func TestARenameThatSomebodyLeft(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "CREATE TABLE visit "+visit+" COMMENT 'locus: owner=guest; guests'")
		exec(t, db, "INSERT INTO visit (guest) VALUES (1), (2), (3), (4)")
		name := func(table string) catalog.TableName { return catalog.TableName{Schema: s.Schema, Name: table} }
		if err := s.BeginRename(catalog.Rename{From: name("visit"), To: name("seen")}); err != nil {
			t.Fatal(err)
		}
		exec(t, s.Shard(t, 1), "RENAME TABLE visit TO seen")
		if err := s.Proxy.RereadNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			"SELECT * FROM visit WHERE guest = 1", "SELECT * FROM seen WHERE guest = 1", "INSERT INTO seen (guest) VALUES (9)", "DROP TABLE visit", "TRUNCATE seen",
			"ALTER TABLE visit ADD COLUMN x INT", "CREATE TABLE like_it LIKE visit", "CREATE TABLE seen (a INT)",
		} {
			_, err := db.Exec(text)
			refused(t, err, 1105, "RENAME TABLE `"+s.Schema+"`.`visit` TO `"+s.Schema+"`.`seen` completes the rename")
		}
		exec(t, db, "RENAME TABLE visit TO seen")
		if got := number(t, db, "SELECT COUNT(*) FROM seen"); got != 4 {
			t.Errorf("%d rows", got)
		}
		if got := placedOn(t, s, "seen") + placedOn(t, s, "visit") + declared(s, "seen") + declared(s, "visit"); got != "01owner=guestno" {
			t.Errorf("it is %s", got)
		}
		_, err := db.Exec("RENAME TABLE visit TO seen")
		refused(t, err, 1235, "that is on one shard can't have its name")
	})
}

func TestWhatARenameCarries(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		exec(t, db, "CREATE TABLE cart "+cart+" COMMENT 'locus: owner=buyer_uid id=cart_id; baskets'")
		exec(t, db, "CREATE TABLE cart_line (cart_id BIGINT NOT NULL, line INT NOT NULL, PRIMARY KEY (cart_id, line), FOREIGN KEY (cart_id) REFERENCES cart (cart_id)) COMMENT 'locus: parent=cart_id'")
		exec(t, db, "CREATE TABLE country (code CHAR(2) NOT NULL PRIMARY KEY) COMMENT 'locus: global'")
		exec(t, db, "INSERT INTO cart (buyer_uid) VALUES (1), (2)")
		exec(t, db, "INSERT INTO country VALUES ('no')")
		exec(t, db, "RENAME TABLE cart TO basket, country TO land")
		exec(t, db, "INSERT INTO cart_line SELECT cart_id, 1 FROM basket WHERE buyer_uid = 1")
		exec(t, db, "INSERT INTO land VALUES ('se')")
		for i := range 2 {
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM land"); got != 2 {
				t.Errorf("s%d has %d lands", i, got)
			}
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME = 'basket'"); got != 1 {
				t.Errorf("s%d: the foreign key does not follow", i)
			}
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'basket' AND TABLE_COMMENT LIKE 'locus: owner=buyer_uid id=cart_id; baskets'"); got != 1 {
				t.Errorf("s%d: the comment is gone", i)
			}
		}
		for text, want := range map[string]string{
			"RENAME TABLE basket TO land":                               "1105 is declared",
			"RENAME TABLE basket TO setting":                            "1105 is declared",
			"RENAME TABLE basket TO swap, land TO basket, swap TO land": "1235 exchange their names",
			"ALTER TABLE basket RENAME TO cart, ADD COLUMN x INT":       "1235 by itself",
			"CREATE TABLE cart AS SELECT * FROM basket":                 "1235 locus-1003",
			"RENAME TABLE cart TO basket2":                              "1146 cart",
		} {
			var code uint16
			var says string
			if _, err := fmt.Sscan(want, &code); err != nil {
				t.Fatal(err)
			}
			_, says, _ = strings.Cut(want, " ")
			_, err := db.Exec(text)
			refused(t, err, code, says)
		}
		exec(t, s.Shard(t, 1), "CREATE TABLE taken (a INT)")
		_, err := db.Exec("RENAME TABLE basket TO taken")
		refused(t, err, 1050, "taken")
		if got := placedOn(t, s, "basket") + declared(s, "basket") + declared(s, "taken"); got != "01owner=buyer_uid id=cart_idno" {
			t.Errorf("it is %s", got)
		}

		exec(t, db, "CREATE TABLE copy LIKE basket")
		exec(t, db, "INSERT INTO copy SELECT * FROM basket WHERE buyer_uid = 2")
		exec(t, db, "CREATE TABLE IF NOT EXISTS copy LIKE basket")
		_, err = db.Exec("CREATE TABLE copy LIKE basket")
		refused(t, err, 1050, "copy")
		exec(t, db, "CREATE TABLE land2 LIKE land")
		if got := declared(s, "copy") + declared(s, "land2") + placedOn(t, s, "land2"); got != "owner=buyer_uid id=cart_idglobal01" {
			t.Errorf("they are declared %s", got)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM copy"); got != 1 {
			t.Errorf("the copy has %d rows", got)
		}
	})
}

// No shard renames a table while an earlier statement runs that may be about to use the former name.
func TestARenameWaitsForStatements(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // most of its time it waits
		s, dbs := twoProxies(t, engine)
		exec(t, dbs[0], "CREATE TABLE visit "+visit+" COMMENT 'locus: owner=guest'")
		holder, err := s.Shard(t, 0).Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer holder.Close()
		lock := "GET_LOCK('" + s.Schema + "', 60)"
		if _, err := holder.ExecContext(t.Context(), "DO "+lock); err != nil {
			t.Fatal(err)
		}
		var others sync.WaitGroup
		others.Go(func() { // through the proxy that does not rename
			if got := number(t, dbs[1], "SELECT "+lock); got != 1 {
				t.Errorf("the lock was not given: %d", got)
			}
		})
		until(t, "the statement is under way", func() bool {
			return number(t, s.Shard(t, 0), "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User lock' AND INFO LIKE ?", "%"+s.Schema+"%") == 1
		})
		others.Go(func() {
			if _, err := dbs[0].Exec("RENAME TABLE visit TO seen"); err != nil && !strings.Contains(err.Error(), "that began before") {
				t.Error(err)
			}
		})
		until(t, "the rename has begun", func() bool { return declared(s, "seen") != "no" })
		if err := s.Proxy.RereadNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := placedOn(t, s, "visit"); got != "01" {
			t.Errorf("the table is by its former name on %q", got)
		}
		if _, err := holder.ExecContext(t.Context(), "DO RELEASE_LOCK('"+s.Schema+"')"); err != nil {
			t.Fatal(err)
		}
		others.Wait()
		if placedOn(t, s, "seen") == "" { // the statement has waited for too long
			exec(t, dbs[0], "RENAME TABLE visit TO seen")
		}
		if got := placedOn(t, s, "seen"); got != "01" {
			t.Errorf("the table is by its new name on %q", got)
		}
	})
}

// While a session holds a table, no other session is refused: the shards are asked for their locks before, for a
// short time only.
func TestARenameWaitsForWhoHoldsTheTable(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // most of its time it waits
		s := shop.Start(t, engine, shop.Options{})
		db, short := s.DB(t, nil), s.DB(t, func(c *mysql.Config) { c.Params = map[string]string{"lock_wait_timeout": "1"} })
		exec(t, db, "CREATE TABLE visit "+visit+" COMMENT 'locus: owner=guest'")
		holder := begin(t, s.Shard(t, 1))
		number(t, holder, "SELECT COUNT(*) FROM visit")
		w := &namesWriter{db: db, names: [2]string{"visit", "visit"}, guest: 1} // of the other shard
		stop := make(chan struct{})
		var running sync.WaitGroup
		running.Go(func() { w.run(stop) })
		_, err := short.Exec("RENAME TABLE visit TO seen")
		refused(t, err, 1205, "on shard s1: Lock wait timeout exceeded; try restarting transaction; another session has a lock on the table there")
		close(stop)
		running.Wait()
		if len(w.given) == 0 || w.other != nil || w.absent > 0 {
			t.Errorf("%d statements were answered meanwhile, %d heard of no such table, others %v", len(w.given), w.absent, w.other)
		}
		renamed := make(chan error, 1)
		go func() {
			_, err := db.Exec("RENAME TABLE visit TO seen")
			renamed <- err
		}()
		until(t, "the rename waits", func() bool {
			return number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'LOCK TABLES%visit%'") > 0
		})
		if err := holder.Rollback(); err != nil {
			t.Fatal(err)
		}
		if err := <-renamed; err != nil {
			t.Fatal(err)
		}
		if got := placedOn(t, s, "seen") + placedOn(t, s, "visit"); got != "01" {
			t.Errorf("it is on %s", got)
		}
	})
}
