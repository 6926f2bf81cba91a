//go:build long

package histories

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// TestImportOfTheShop imports the sample shop's orders and their items, in one job, while orders are placed and changed and processes
// are killed: from the default shard, and from a server outside.
func TestImportOfTheShop(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Run("of a shard", func(t *testing.T) { fromShard(t, engine, newStore()) })
		t.Run("outside", func(t *testing.T) { fromServer(t, engine, newStore()) })
	})
}

// store contains the sample shop's tables, and buyers. An order's amount always equals the sum of its items.
type store struct {
	mu       sync.Mutex // guards the fields below
	sequence uint64     // the last number given to an order or an item
	orders   []placed   // acknowledged
}

type placed struct{ id, buyer int64 }

func newStore() *store { return &store{} }

const (
	buyers        = 40
	storeOrder    = "INSERT INTO test_order (order_id, order_no, buyer_uid, amount, version) VALUES (?, ?, ?, ?, 1)"
	storeItem     = "INSERT INTO order_item (item_id, order_id, product_id, quantity, price) VALUES (?, ?, ?, ?, ?)"
	storeProducts = "INSERT INTO product VALUES (1, 'one', 1.25), (2, 'two', 2.5), (3, 'three', 3)"
)

func (*store) schema() string { return "store" }

func (*store) growing() string { return "order_item" }

func (*store) imported() string {
	return "store.test_order owner=buyer_uid id=order_id; store.order_item parent=order_id id=item_id"
}

func (s *store) form(table int) string {
	return strings.ReplaceAll(shop.Tables[table], "{schema}", s.schema())
}

func (s *store) prepare(t *testing.T, at login) {
	t.Helper()
	db := at.open(t, s.schema())
	for _, query := range []string{s.form(0), s.form(1), s.form(2), storeProducts} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(300) {
		if err := s.place(db, i%buyers); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *store) beside(t *testing.T, _ *servers.Server, at login) {
	t.Helper()
	db := at.open(t, s.schema())
	for _, query := range []string{s.form(2), storeProducts} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *store) use(t *testing.T, at login) (stop func() []string) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	var using sync.WaitGroup
	var mu sync.Mutex // of failures
	var failures []string
	for i := range int64(6) {
		db := at.open(t, s.schema())
		db.SetMaxOpenConns(1)
		using.Go(func() {
			random := rand.New(rand.NewPCG(seed(), uint64(i)))
			for ; ctx.Err() == nil; pause(ctx, time.Duration(random.Int64N(int64(10*time.Millisecond)))) {
				if err := s.act(db, random); err != nil {
					mu.Lock()
					failures = append(failures, err.Error())
					mu.Unlock()
				}
			}
		})
	}
	return func() []string {
		end()
		using.Wait()
		t.Logf("%d orders and items", s.sequence)
		return failures
	}
}

func (s *store) act(db *sql.DB, random *rand.Rand) error {
	buyer := random.Int64N(buyers)
	switch random.IntN(4) {
	case 0:
		return s.place(db, buyer)
	case 1:
		return s.list(db, buyer)
	}
	s.mu.Lock()
	order := s.orders[random.IntN(len(s.orders))]
	s.mu.Unlock()
	return s.add(db, order)
}

func (s *store) next(buyer int64) (id, number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence++
	return idOf(buyer, s.sequence), int64(s.sequence)
}

// place writes an order with two items.
func (s *store) place(db *sql.DB, buyer int64) error {
	id, number := s.next(buyer)
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.Exec(storeOrder, id, number, buyer, 5); err != nil {
		return err
	}
	for range 2 {
		item, _ := s.next(buyer)
		if _, err := tx.Exec(storeItem, item, id, 1, 2, 1.25); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orders = append(s.orders, placed{id, buyer})
	return nil
}

// add puts one more item into an order.
func (s *store) add(db *sql.DB, order placed) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var amount string
	if err := tx.QueryRow("SELECT amount FROM test_order WHERE order_id = ? FOR UPDATE", order.id).Scan(&amount); err != nil {
		return fmt.Errorf("order %d, which was acknowledged: %w", order.id, err)
	}
	item, _ := s.next(order.buyer)
	if _, err := tx.Exec(storeItem, item, order.id, 2, 1, 2.5); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE test_order SET amount = amount + 2.5, version = version + 1 WHERE order_id = ?", order.id); err != nil {
		return err
	}
	return tx.Commit()
}

// list reads a buyer's orders, each of which must be complete.
func (s *store) list(db *sql.DB, buyer int64) error {
	rows, err := db.Query("SELECT o.order_id, o.amount, SUM(i.quantity * i.price) FROM test_order o JOIN order_item i ON i.order_id = o.order_id"+
		" WHERE o.buyer_uid = ? GROUP BY o.order_id, o.amount", buyer)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var amount, sum float64
		if err := rows.Scan(&id, &amount, &sum); err != nil {
			return err
		}
		if amount != sum {
			return fmt.Errorf("order %d of buyer %d has the amount %v, and items of %v", id, buyer, amount, sum)
		}
	}
	return rows.Err()
}

// check searches for each acknowledged order, and for incomplete ones.
func (s *store) check(t *testing.T, at login) {
	t.Helper()
	db := at.open(t, s.schema())
	amounts := s.amounts(t, db, "SELECT order_id, amount FROM test_order")
	sums := s.amounts(t, db, "SELECT order_id, SUM(quantity * price) FROM order_item GROUP BY order_id")
	for id, amount := range amounts {
		if sums[id] != amount {
			t.Errorf("order %d has the amount %v, and items of %v", id, amount, sums[id])
		}
	}
	for id := range sums {
		if _, there := amounts[id]; !there {
			t.Errorf("there are items of order %d, which is not there", id)
		}
	}
	for _, order := range s.orders {
		if _, there := amounts[order.id]; !there {
			t.Errorf("order %d of buyer %d was acknowledged and is not there", order.id, order.buyer)
		}
	}
}

func (s *store) amounts(t *testing.T, db *sql.DB, query string) map[int64]float64 {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[int64]float64{}
	for rows.Next() {
		var id int64
		var amount float64
		if err := rows.Scan(&id, &amount); err != nil {
			t.Fatal(err)
		}
		if _, twice := found[id]; twice {
			t.Errorf("%s: order %d is there twice", query, id)
		}
		found[id] = amount
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
