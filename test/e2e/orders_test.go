package e2e

import (
	"database/sql"
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/test/shop"
)

// buyers are the buyers of the golden vectors, with their genes and, with two shards, their shard.
var buyers = []struct {
	uid   int64
	gene  gene.Gene
	shard int
}{{0, 0xd870, 1}, {1, 0x5ddf, 0}, {42, 0x3eab, 0}, {10001, 0xc3fe, 1}, {-1, 0x2bba, 0}}

var protocols = map[string]func(*mysql.Config){
	"prepared": nil,
	"text":     func(c *mysql.Config) { c.InterpolateParams = true },
}

// each runs a test on both engines and with both protocols. The short scale uses one protocol per engine, and
// alternates it from test to test.
func each(t *testing.T, o shop.Options, test func(t *testing.T, s *shop.Shop, db *sql.DB)) {
	names := []string{"prepared", "text"}
	turn := fnv.New32a()
	_, _ = turn.Write([]byte(t.Name()))
	first := int(turn.Sum32() % 2)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		chosen := names
		if !scale.Long() {
			at := first
			if engine == servers.MySQL {
				at = 1 - first
			}
			chosen = names[at : at+1]
		}
		for _, name := range chosen {
			t.Run(name, func(t *testing.T) {
				s := shop.Start(t, engine, o)
				test(t, s, s.DB(t, protocols[name]))
			})
		}
	})
}

func exec(t *testing.T, db interface {
	Exec(string, ...any) (sql.Result, error)
}, query string, args ...any,
) sql.Result {
	t.Helper()
	r, err := db.Exec(query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return r
}

func number(t *testing.T, db interface {
	QueryRow(string, ...any) *sql.Row
}, query string, args ...any,
) int64 {
	t.Helper()
	var n sql.NullInt64
	if err := db.QueryRow(query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n.Int64
}

func rows(t *testing.T, db interface {
	Query(string, ...any) (*sql.Rows, error)
}, query string, args ...any,
) (out []string) {
	t.Helper()
	r, err := db.Query(query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
		values := make([]sql.NullString, len(columns))
		pointers := make([]any, len(columns))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := r.Scan(pointers...); err != nil {
			t.Fatal(err)
		}
		line := ""
		for i, v := range values {
			if i > 0 {
				line += " "
			}
			if v.Valid {
				line += v.String
			} else {
				line += "NULL"
			}
		}
		out = append(out, line)
	}
	if err := r.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

func TestOrdersLiveWhereTheirBuyersGeneSays(t *testing.T) {
	layout, err := orderid.ByName("int64")
	if err != nil {
		t.Fatal(err)
	}
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		for _, b := range buyers {
			r := exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, ?)", b.uid, "12.50")
			id, err := r.LastInsertId()
			if err != nil {
				t.Fatal(err)
			}
			if affected, _ := r.RowsAffected(); affected != 1 {
				t.Errorf("buyer %d: %d rows affected, want 1", b.uid, affected)
			}
			if g := layout.GeneUint(uint64(id)); g != b.gene {
				t.Errorf("buyer %d: ID %d has gene %s, want %s", b.uid, id, g, b.gene)
			}
			for i := range 2 {
				want := int64(0)
				if i == b.shard {
					want = 1
				}
				if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM test_order WHERE buyer_uid = ? AND order_id = ? AND version = 1", b.uid, id); got != want {
					t.Errorf("buyer %d: %d rows on shard s%d, want %d", b.uid, got, i, want)
				}
			}
			no := number(t, db, "SELECT order_no FROM test_order WHERE buyer_uid = ?", b.uid)
			decoded, err := s.Ring.Decode(layout, orderid.ID{Lo: uint64(no)})
			if err != nil || decoded.Lo != uint64(id) {
				t.Errorf("buyer %d: order number %d decodes to %v (%v), want %d", b.uid, no, decoded, err, id)
			}
			if got := number(t, db, "SELECT buyer_uid FROM test_order WHERE order_id = ?", id); got != b.uid {
				t.Errorf("by ID: buyer %d, want %d", got, b.uid)
			}
			if got := number(t, db, "SELECT buyer_uid FROM test_order WHERE order_no = ?", no); got != b.uid {
				t.Errorf("by order number: buyer %d, want %d", got, b.uid)
			}
			if got := number(t, db, "SELECT COUNT(*) FROM test_order WHERE order_id IN (?, 5)", id); got != 1 {
				t.Errorf("by IN: %d rows, want 1", got)
			}
		}
		if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != int64(len(buyers)) {
			t.Errorf("COUNT(*) over all shards is %d, want %d", got, len(buyers))
		}
		if got := number(t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid IN (0, 1, 42)"); got != 3 {
			t.Errorf("COUNT(*) of three buyers is %d", got)
		}
	})
}

func TestItemsFollowTheirOrder(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		for _, b := range buyers {
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			id, _ := exec(t, tx, "INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", b.uid).LastInsertId()
			exec(t, tx, "INSERT INTO order_item (order_id, product_id, quantity) VALUES (?, ?, ?), (?, ?, ?)", id, 1, 2, id, 2, 3)
			if got := number(t, tx, "SELECT SUM(i.quantity) FROM test_order o JOIN order_item i ON i.order_id = o.order_id WHERE o.buyer_uid = ?", b.uid); got != 5 {
				t.Errorf("buyer %d: quantity %d, want 5", b.uid, got)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if got := number(t, s.Shard(t, b.shard), "SELECT COUNT(*) FROM order_item WHERE order_id = ?", id); got != 2 {
				t.Errorf("buyer %d: %d items on shard s%d, want 2", b.uid, got, b.shard)
			}
		}
		// LAST_INSERT_ID() is the parent's ID within one connection.
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, q := range []string{
			"INSERT INTO test_order (buyer_uid) VALUES (42)",
			"INSERT INTO order_item (order_id, product_id) VALUES (LAST_INSERT_ID(), 7)",
		} {
			if _, err := conn.ExecContext(t.Context(), q); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
		if got := number(t, db, "SELECT COUNT(*) FROM order_item i JOIN test_order o ON o.order_id = i.order_id WHERE o.buyer_uid = 42 AND i.product_id = 7"); got != 1 {
			t.Errorf("%d items by LAST_INSERT_ID(), want 1", got)
		}
	})
}

func TestManyRowsInOneInsert(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		r := exec(t, db, "INSERT INTO test_order (buyer_uid, status) VALUES (?, 'a'), (?, 'b'), (?, 'c')", 42, 42, 42)
		id, _ := r.LastInsertId()
		if affected, _ := r.RowsAffected(); affected != 3 {
			t.Errorf("%d rows affected, want 3", affected)
		}
		want := []string{fmt.Sprintf("%d a", id), fmt.Sprintf("%d b", id+1), fmt.Sprintf("%d c", id+2)}
		if got := rows(t, db, "SELECT order_id, status FROM test_order WHERE buyer_uid = 42 ORDER BY order_id"); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("rows %v, want %v: the IDs of one owner are consecutive", got, want)
		}
		r = exec(t, db, "INSERT INTO test_order (buyer_uid, status) VALUES (?, 'x'), (?, 'y'), (?, 'z'), (?, 'w')", 0, 1, 10001, 1)
		if affected, _ := r.RowsAffected(); affected != 4 {
			t.Errorf("%d rows affected over two shards, want 4", affected)
		}
		if a, b := number(t, s.Shard(t, 0), "SELECT COUNT(*) FROM test_order"), number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM test_order"); a != 5 || b != 2 {
			t.Errorf("%d and %d rows, want 5 and 2", a, b)
		}
		got := rows(t, db, "SELECT status FROM test_order ORDER BY status DESC LIMIT 2 OFFSET 1")
		if fmt.Sprint(got) != "[y x]" {
			t.Errorf("ordered over shards: %v, want [y x]", got)
		}
		if got := rows(t, db, "SELECT status, buyer_uid FROM test_order ORDER BY buyer_uid, order_id LIMIT ?", 3); fmt.Sprint(got) != "[x 0 y 1 w 1]" {
			t.Errorf("ordered over shards: %v", got)
		}
		if got := rows(t, db, "SELECT COUNT(*), MIN(buyer_uid), MAX(buyer_uid), SUM(amount), AVG(buyer_uid) FROM test_order"); fmt.Sprint(got) != "[7 0 10001 0.00 1447.0000]" {
			t.Errorf("aggregates over shards: %v", got)
		}
	})
}
