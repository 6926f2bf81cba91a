package e2e

import (
	"database/sql"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/proxy/session"
	"locus/router/plan"
	"locus/router/stmt"
	"locus/test/shop"
)

// The user's limits apply to gathered rows and to changes on several shards. After a refusal everything is as before:
// the session, its transaction, and the connections that had temporary tables.
func TestGatheringWithinLimits(t *testing.T) {
	options := shop.Options{User: ", gather_rows: 5, scatter_writes: warn, unfiltered: refuse"}
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		counts := s.Proxy.Status().Counts
		before := refusals(counts)
		db.SetMaxOpenConns(1)
		for owner := range 8 {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", owner)
		}
		for _, begin := range []string{"DO 0", "BEGIN"} {
			exec(t, db, begin)
			exec(t, db, "UPDATE test_order SET amount = amount + 1 WHERE buyer_uid = 3")
			for range 3 {
				_, err := db.Exec("SELECT amount, STDDEV(amount) FROM test_order GROUP BY amount")
				refused(t, err, 1235, "locus-1105")
			}
			if got := number(t, db, "SELECT COUNT(*) FROM test_order GROUP BY amount ORDER BY 1 DESC LIMIT 1"); got != 7 {
				t.Errorf("after %s: %d rows in a group, want 7: groups count against gather_rows, and not their rows", begin, got)
			}
			if got := number(t, db, "SELECT COUNT(DISTINCT buyer_uid) FROM test_order WHERE buyer_uid IN (1, 2, 3, 4)"); got != 4 {
				t.Errorf("after %s: %d owners, want 4", begin, got)
			}
			if got := number(t, db, "SELECT COUNT(*) FROM (SELECT amount FROM test_order WHERE buyer_uid IN (3, 4) AND amount > 1) d"); got != 1 {
				t.Errorf("after %s: %d rows that were changed, want 1", begin, got)
			}
		}
		exec(t, db, "ROLLBACK")

		_, err := db.Exec("DELETE FROM test_order")
		refused(t, err, 1235, "locus-1106")
		if n, _ := exec(t, db, "UPDATE test_order SET status = 'seen' WHERE amount > 0").RowsAffected(); n != 8 {
			t.Errorf("%d rows on several shards were changed, want 8", n)
		}
		var level, code, message string
		if err := db.QueryRow("SHOW WARNINGS").Scan(&level, &code, &message); err != nil || level != "Warning" {
			t.Errorf("SHOW WARNINGS: %s %s %s (%v)", level, code, message, err)
		}
		if got := number(t, db, "SELECT COUNT(*) FROM test_order WHERE status = 'seen' AND version >= 2"); got != 8 {
			t.Errorf("%d rows with a raised version, want 8", got)
		}
		for code, want := range map[plan.Code]uint64{plan.GatherLimit: 6, plan.UnfilteredRefused: 1, plan.ScatterWrite: 0} {
			if got := refusals(counts)[code] - before[code]; got != want {
				t.Errorf("%d statements are counted as refused with %s, want %d", got, code, want)
			}
		}
		if got := counts.Gathered.Load(); got < 10 {
			t.Errorf("%d statements are counted as gathered", got)
		}
	})
}

// The figures of a digest contain how many rows were gathered, and how many of them were read by the keys of others.
func TestGatheredRowsAreCounted(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		item := int64(0)
		for owner := range 9 {
			order, err := exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", owner).LastInsertId()
			if err != nil {
				t.Fatal(err)
			}
			if item, err = exec(t, db, "INSERT INTO order_item (order_id, product_id, quantity) VALUES (?, ?, ?)", order, owner, owner%3).LastInsertId(); err != nil {
				t.Fatal(err)
			}
		}
		const all = "SELECT COUNT(DISTINCT a.buyer_uid + b.buyer_uid) FROM test_order a JOIN test_order b USING (amount)"
		const byKey = "SELECT COUNT(o.order_id) FROM order_item i JOIN test_order o ON o.buyer_uid = i.product_id WHERE i.quantity = 1"
		carried := fmt.Sprint("SELECT o.buyer_uid FROM order_item i JOIN test_order o ON o.buyer_uid = i.product_id WHERE i.item_id = ", item)
		db.SetMaxOpenConns(1)
		for _, query := range []string{all, byKey, carried} {
			number(t, db, query)
		}
		exec(t, db, "DO 0") // a statement is counted when the session has finished with it
		got := map[string][3]uint64{}
		for _, f := range s.Proxy.Statements().Report(time.Now(), 1000, 1000).Digests {
			got[f.Text] = [3]uint64{f.Gathered, f.Copied, f.Keyed}
		}
		for query, want := range map[string][3]uint64{all: {1, 18, 0}, byKey: {1, 6, 3}, carried: {1, 1, 0}} {
			l := new(stmt.Lexed)
			l.Lex([]byte(query), 0)
			text, _ := l.AppendDigest(nil)
			if digest := stmt.DigestText(text, 1000); got[string(digest)] != want {
				t.Errorf("%s: %v, want %v", query, got[string(digest)], want)
			}
		}
	})
}

func refusals(c *session.Counts) map[plan.Code]uint64 { return maps.Collect(c.Refused.All) }

// With large_gather: warn, a statement above the user's limits is answered with a warning.
func TestGatheringBeyondBoundsIsToldOf(t *testing.T) {
	each(t, shop.Options{User: ", gather_rows: 5, large_gather: warn"}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		db.SetMaxOpenConns(1)
		for owner := range 8 {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", owner)
		}
		for owners, told := range map[string]int{"1, 2, 3, 4": 0, "0, 1, 2, 3, 4, 5, 6, 7": 1} {
			if got := number(t, db, "SELECT COUNT(DISTINCT buyer_uid) FROM test_order WHERE buyer_uid IN ("+owners+")"); got != int64(1+strings.Count(owners, ",")) {
				t.Errorf("%d owners of %s", got, owners)
			}
			if got := number(t, db, "SHOW COUNT(*) WARNINGS"); got != int64(told) {
				t.Errorf("%s: %d warnings, want %d", owners, got, told)
			}
		}
	})
}

// Statements that gather have a connection while they take another. On a small pool
// they never wait for each other's.
func TestGatheringOnFewConnections(t *testing.T) {
	options := shop.Options{}
	options.Backends.MaxOpen = 3 // maximum for each of two shards
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		for owner := range 8 {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", owner)
		}
		var clients sync.WaitGroup
		for range 16 {
			clients.Go(func() {
				var n int
				if err := db.QueryRow("SELECT COUNT(*) FROM (SELECT amount, buyer_uid FROM test_order GROUP BY amount, buyer_uid) d").Scan(&n); err != nil || n != 8 {
					t.Errorf("%d owners (%v), want 8", n, err)
				}
			})
		}
		clients.Wait()
	})
}

// Index hints of tables whose rows are gathered are sent to the shards, which know the indexes. They change no
// answer, and a hint with a missing index is the server's error, as on one server.
func TestGatheringWithIndexHints(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		db.SetMaxOpenConns(1)
		for owner := range 8 {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, ?)", owner, owner%4)
		}
		exec(t, db, "INSERT INTO setting (name, value) VALUES ('1', 'x')")
		for _, begin := range []string{"DO 0", "BEGIN"} {
			exec(t, db, begin)
			exec(t, db, "UPDATE test_order SET amount = 3 WHERE buyer_uid = 0")
			for _, c := range []struct {
				text string
				args []any
				want int64
			}{
				{"SELECT COUNT(*) FROM test_order USE INDEX (buyer_uid) GROUP BY amount ORDER BY 1 DESC LIMIT 1", nil, 3},
				{"SELECT COUNT(*) FROM test_order a FORCE INDEX (PRIMARY) JOIN test_order AS b IGNORE INDEX FOR JOIN (`order_no`, buyer_uid) ON a.amount = b.amount WHERE b.buyer_uid > 3", nil, 8},
				{"SELECT COUNT(*) FROM test_order a USE KEY (order_no) IGNORE INDEX FOR ORDER BY (PRIMARY) JOIN test_order b ON a.amount = b.amount WHERE a.amount > ?", []any{2}, 9},
				{"SELECT COUNT(*) FROM setting f FORCE INDEX (PRIMARY), test_order o USE INDEX () WHERE o.amount = f.name", nil, 2},
				{"SELECT COUNT(*) FROM (SELECT amount FROM test_order FORCE INDEX (order_no) GROUP BY amount HAVING COUNT(*) > (SELECT COUNT(*) FROM setting USE INDEX (PRIMARY))) d", nil, 3},
			} {
				if got := number(t, db, c.text, c.args...); got != c.want {
					t.Errorf("after %s: %s: %d, want %d", begin, c.text, got, c.want)
				}
			}
			_, err := db.Exec("SELECT COUNT(*) FROM test_order a USE INDEX (nothing) JOIN test_order b ON a.amount = b.amount")
			refused(t, err, 1176, "nothing")
		}
		exec(t, db, "ROLLBACK")
	})
}
