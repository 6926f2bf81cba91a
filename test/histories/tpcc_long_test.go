//go:build long

package histories

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/internal/test/servers"
	harness "locus/test/cluster"
)

// TestImportOfTPCC imports, in one job, the eight tables of TPC-C that belong to a warehouse, while its
// transactions run and processes are killed: from the default shard, and from a server outside. Some
// transactions span two warehouses. Items are global.
func TestImportOfTPCC(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Run("of a shard", func(t *testing.T) { fromShard(t, engine, &tpcc{}) })
		t.Run("outside", func(t *testing.T) { fromServer(t, engine, &tpcc{}) })
	})
}

// The amount of data. It is small, because the consistency conditions are the same for any amount.
const (
	tpccWarehouses = 6
	tpccDistricts  = 3 // of a warehouse
	tpccCustomers  = 20
	tpccItems      = 100
	tpccOrders     = 20 // number of a district's first orders
	tpccOpen       = 6  // orders that are not delivered yet
)

// tpcc contains TPC-C's tables and terminals. Its history table has no key, and gets a number because a move
// needs a key.
type tpcc struct {
	mu     sync.Mutex // guards the fields below
	placed [][3]int   // orders that were acknowledged: warehouse, district, number
	done   int
}

func (*tpcc) schema() string { return "tpcc" }

func (*tpcc) growing() string { return "order_line" }

func (*tpcc) imported() string {
	return "tpcc.warehouse owner=w_id; tpcc.district owner=d_w_id; tpcc.customer owner=c_w_id; tpcc.history owner=h_w_id; tpcc.new_order owner=no_w_id; " +
		"tpcc.orders owner=o_w_id; tpcc.order_line owner=ol_w_id; tpcc.stock owner=s_w_id"
}

var tpccTables = []string{
	"CREATE TABLE warehouse (w_id INT NOT NULL PRIMARY KEY, w_name VARCHAR(10), w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2) NOT NULL)",
	"CREATE TABLE district (d_id INT NOT NULL, d_w_id INT NOT NULL, d_name VARCHAR(10), d_tax DECIMAL(4,4), d_ytd DECIMAL(12,2) NOT NULL, d_next_o_id INT NOT NULL, PRIMARY KEY (d_w_id, d_id))",
	"CREATE TABLE customer (c_id INT NOT NULL, c_d_id INT NOT NULL, c_w_id INT NOT NULL, c_last VARCHAR(16), c_balance DECIMAL(12,2) NOT NULL, c_ytd_payment DECIMAL(12,2) NOT NULL," +
		" c_payment_cnt INT NOT NULL, c_delivery_cnt INT NOT NULL, c_data VARCHAR(500), PRIMARY KEY (c_w_id, c_d_id, c_id), KEY (c_w_id, c_d_id, c_last))",
	"CREATE TABLE history (h_id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, h_c_id INT NOT NULL, h_c_d_id INT NOT NULL, h_c_w_id INT NOT NULL, h_d_id INT NOT NULL, h_w_id INT NOT NULL," +
		" h_date DATETIME, h_amount DECIMAL(6,2) NOT NULL, h_data VARCHAR(24), KEY (h_w_id, h_d_id), KEY (h_c_w_id, h_c_d_id, h_c_id))",
	"CREATE TABLE new_order (no_o_id INT NOT NULL, no_d_id INT NOT NULL, no_w_id INT NOT NULL, PRIMARY KEY (no_w_id, no_d_id, no_o_id))",
	"CREATE TABLE orders (o_id INT NOT NULL, o_d_id INT NOT NULL, o_w_id INT NOT NULL, o_c_id INT NOT NULL, o_entry_d DATETIME, o_carrier_id INT, o_ol_cnt INT NOT NULL," +
		" PRIMARY KEY (o_w_id, o_d_id, o_id), KEY (o_w_id, o_d_id, o_c_id))",
	"CREATE TABLE order_line (ol_o_id INT NOT NULL, ol_d_id INT NOT NULL, ol_w_id INT NOT NULL, ol_number INT NOT NULL, ol_i_id INT NOT NULL, ol_supply_w_id INT, ol_delivery_d DATETIME," +
		" ol_quantity INT NOT NULL, ol_amount DECIMAL(6,2) NOT NULL, PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))",
	"CREATE TABLE stock (s_i_id INT NOT NULL, s_w_id INT NOT NULL, s_quantity INT NOT NULL, s_ytd INT NOT NULL, s_order_cnt INT NOT NULL, s_remote_cnt INT NOT NULL, PRIMARY KEY (s_w_id, s_i_id))",
}

// tpccItem is global when it is created through a proxy. A server outside only stores the comment.
const tpccItem = "CREATE TABLE item (i_id INT NOT NULL PRIMARY KEY, i_name VARCHAR(24), i_price DECIMAL(5,2) NOT NULL) COMMENT 'locus: global'"

// price returns the price of an item, in cents.
func price(item int) int { return 100 + item*7%900 }

func (*tpcc) items(t *testing.T, db *sql.DB) {
	t.Helper()
	rows := make([]string, tpccItems)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, 'item %d', %.2f)", i+1, i+1, float64(price(i+1))/100)
	}
	for _, query := range []string{tpccItem, "INSERT INTO item VALUES " + strings.Join(rows, ", ")} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
}

// prepare makes and fills the tables: the first payment of each customer is 10, and undelivered orders have amounts.
func (p *tpcc) prepare(t *testing.T, at login) {
	t.Helper()
	db := at.open(t, p.schema())
	p.items(t, db)
	for _, query := range tpccTables {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	into := map[string][]string{}
	add := func(table, format string, args ...any) {
		into[table] = append(into[table], fmt.Sprintf(format, args...))
	}
	for w := 1; w <= tpccWarehouses; w++ {
		add("warehouse", "(%d, 'w', 0.1, %d)", w, tpccDistricts*tpccCustomers*10)
		for i := 1; i <= tpccItems; i++ {
			add("stock", "(%d, %d, 50, 0, 0, 0)", i, w)
		}
		for d := 1; d <= tpccDistricts; d++ {
			add("district", "(%d, %d, 'd', 0.1, %d, %d)", d, w, tpccCustomers*10, tpccOrders+1)
			for c := 1; c <= tpccCustomers; c++ {
				add("customer", "(%d, %d, %d, 'name %d', -10, 10, 1, 0, 'data')", c, d, w, c%7)
				add("history", "(NULL, %d, %d, %d, %d, %d, NOW(), 10, 'first')", c, d, w, d, w)
			}
			for o := 1; o <= tpccOrders; o++ {
				carrier, delivered, amount := "1", "NOW()", 0
				if o > tpccOrders-tpccOpen {
					carrier, delivered, amount = "NULL", "NULL", 5
					add("new_order", "(%d, %d, %d)", o, d, w)
				}
				add("orders", "(%d, %d, %d, %d, NOW(), %s, 2)", o, d, w, 1+o%tpccCustomers, carrier)
				for n := 1; n <= 2; n++ {
					add("order_line", "(%d, %d, %d, %d, %d, %d, %s, 5, %d)", o, d, w, n, o, w, delivered, amount)
				}
			}
		}
	}
	for table, rows := range into {
		if _, err := db.Exec("INSERT INTO " + table + " VALUES " + strings.Join(rows, ", ")); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
}

func (p *tpcc) beside(t *testing.T, _ *servers.Server, at login) {
	t.Helper()
	p.items(t, at.open(t, p.schema()))
}

// use runs terminals.
func (p *tpcc) use(t *testing.T, at login) (stop func() []string) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	var using sync.WaitGroup
	var mu sync.Mutex // of failures
	var failures []string
	for i := range uint64(6) {
		db := at.open(t, p.schema())
		db.SetMaxOpenConns(1)
		using.Go(func() {
			k := &terminal{tpcc: p, random: rand.New(rand.NewPCG(seed(), i)), warehouse: 1 + int(i)%tpccWarehouses}
			for ; ctx.Err() == nil; pause(ctx, time.Duration(k.random.Int64N(int64(10*time.Millisecond)))) {
				if err := k.act(db); err != nil {
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
		t.Logf("%d transactions, %d orders", p.done, len(p.placed))
		return failures
	}
}

// terminal is of one warehouse.
type terminal struct {
	*tpcc
	random    *rand.Rand
	warehouse int
}

// act does one transaction, in about the shares of TPC-C, with more of those that concern two warehouses.
func (k *terminal) act(db *sql.DB) error {
	do := map[bool]func(*sql.Tx) error{true: k.pay, false: k.look}[k.random.IntN(2) == 0]
	var placed [3]int
	switch n := k.random.IntN(100); {
	case n < 45:
		do = func(tx *sql.Tx) (err error) { placed, err = k.order(tx); return err }
	case n < 85:
		do = k.pay
	case n < 92:
		do = k.deliver
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.done++
	if placed[0] != 0 {
		k.placed = append(k.placed, placed)
	}
	return nil
}

// other returns another warehouse with the given probability, and otherwise the terminal's own.
func (k *terminal) other(percent int) int {
	if k.random.IntN(100) < percent {
		return 1 + k.random.IntN(tpccWarehouses)
	}
	return k.warehouse
}

func (k *terminal) run(tx *sql.Tx, query string, args ...any) error {
	r, err := tx.Exec(query, args...)
	if err != nil {
		return err
	}
	if n, _ := r.RowsAffected(); n != 1 {
		return fmt.Errorf("%s, %v: %d rows", query, args, n)
	}
	return nil
}

// order runs NEW-ORDER. Some items come from other warehouses.
func (k *terminal) order(tx *sql.Tx) (placed [3]int, err error) {
	w, d, c := k.warehouse, 1+k.random.IntN(tpccDistricts), 1+k.random.IntN(tpccCustomers)
	var number int
	if err := tx.QueryRow("SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ? FOR UPDATE", w, d).Scan(&number); err != nil {
		return placed, err
	}
	if err := k.run(tx, "UPDATE district SET d_next_o_id = ? + 1 WHERE d_w_id = ? AND d_id = ?", number, w, d); err != nil {
		return placed, err
	}
	lines := 2 + k.random.IntN(4)
	if err := k.run(tx, "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt) VALUES (?, ?, ?, ?, NOW(), ?)", number, d, w, c, lines); err != nil {
		return placed, err
	}
	if err := k.run(tx, "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)", number, d, w); err != nil {
		return placed, err
	}
	for n := 1; n <= lines; n++ {
		item, quantity, supply := 1+k.random.IntN(tpccItems), 1+k.random.IntN(10), k.other(10)
		var cents float64
		if err := tx.QueryRow("SELECT i_price FROM item WHERE i_id = ?", item).Scan(&cents); err != nil {
			return placed, err
		}
		remote := 0
		if supply != w {
			remote = 1
		}
		if err := k.run(tx, "UPDATE stock SET s_quantity = IF(s_quantity >= ? + 10, s_quantity - ?, s_quantity - ? + 91), s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1,"+
			" s_remote_cnt = s_remote_cnt + ? WHERE s_i_id = ? AND s_w_id = ?", quantity, quantity, quantity, quantity, remote, item, supply); err != nil {
			return placed, err
		}
		if err := k.run(tx, "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			number, d, w, n, item, supply, quantity, cents*float64(quantity)); err != nil {
			return placed, err
		}
	}
	return [3]int{w, d, number}, nil
}

// pay runs PAYMENT. Some customers belong to other warehouses.
func (k *terminal) pay(tx *sql.Tx) error {
	w, d, amount := k.warehouse, 1+k.random.IntN(tpccDistricts), 1+k.random.IntN(50)
	of, in, c := k.other(15), 1+k.random.IntN(tpccDistricts), 1+k.random.IntN(tpccCustomers)
	if err := k.run(tx, "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?", amount, w); err != nil {
		return err
	}
	if err := k.run(tx, "UPDATE district SET d_ytd = d_ytd + ? WHERE d_w_id = ? AND d_id = ?", amount, w, d); err != nil {
		return err
	}
	if err := k.run(tx, "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
		amount, amount, of, in, c); err != nil {
		return err
	}
	return k.run(tx, "INSERT INTO history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, ?, ?, NOW(), ?, 'paid')", in, of, c, d, w, amount)
}

// deliver runs DELIVERY for the oldest undelivered order of a district.
func (k *terminal) deliver(tx *sql.Tx) error {
	w, d := k.warehouse, 1+k.random.IntN(tpccDistricts)
	var number, c int
	err := tx.QueryRow("SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE", w, d).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := k.run(tx, "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?", w, d, number); err != nil {
		return err
	}
	if err := tx.QueryRow("SELECT o_c_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ? FOR UPDATE", w, d, number).Scan(&c); err != nil {
		return err
	}
	if err := k.run(tx, "UPDATE orders SET o_carrier_id = 3 WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?", w, d, number); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE order_line SET ol_delivery_d = NOW() WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?", w, d, number); err != nil {
		return err
	}
	var sum float64
	if err := tx.QueryRow("SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?", w, d, number).Scan(&sum); err != nil {
		return err
	}
	return k.run(tx, "UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?", sum, w, d, c)
}

// look runs ORDER-STATUS and STOCK-LEVEL. An order must have all of its lines.
func (k *terminal) look(tx *sql.Tx) error {
	w, d, c := k.warehouse, 1+k.random.IntN(tpccDistricts), 1+k.random.IntN(tpccCustomers)
	var number, count, lines, low int
	err := tx.QueryRow("SELECT o_id, o_ol_cnt FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1", w, d, c).Scan(&number, &count)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = tx.QueryRow("SELECT COUNT(*) FROM order_line WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?", w, d, number).Scan(&lines)
	}
	if err == nil && lines != count {
		err = fmt.Errorf("order %d of district %d of warehouse %d has %d lines of %d", number, d, w, lines, count)
	}
	if err == nil {
		err = tx.QueryRow("SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_i_id = ol_i_id AND s_w_id = ol_w_id"+
			" WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id > ? - 20 AND s_quantity < 30", w, d, number).Scan(&low)
	}
	return err
}

// check checks TPC-C's consistency conditions, and searches for acknowledged orders. A branch that a killed
// shard has prepared may be finished a moment later.
func (p *tpcc) check(t *testing.T, at login) {
	t.Helper()
	db := at.open(t, p.schema())
	harness.Until(t, "the conditions of TPC-C are met", func() (bool, error) {
		wrong, err := p.conditions(db)
		return err == nil && len(wrong) == 0, errors.Join(err, errors.New(strings.Join(wrong[:min(len(wrong), 10)], "; ")))
	})
}

// totals are sums by some integers, such as a warehouse and a district.
type totals map[[3]int][]int

// grouped reads rows of the given number of key columns, followed by amounts in cents.
func grouped(db *sql.DB, keys int, query string) (totals, error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	found := totals{}
	for rows.Next() {
		values, into := make([]float64, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		var key [3]int
		for i := range keys {
			key[i] = int(values[i])
		}
		if _, twice := found[key]; twice {
			return nil, fmt.Errorf("%s: %v is there twice", query, key)
		}
		for _, v := range values[keys:] {
			found[key] = append(found[key], int(math.Round(v*100)))
		}
	}
	return found, rows.Err()
}

// conditions returns which conditions of clause 3.3.2 are violated, by their numbers.
func (p *tpcc) conditions(db *sql.DB) (wrong []string, err error) {
	read := func(keys int, query string) totals {
		found, failed := grouped(db, keys, query)
		err = errors.Join(err, failed)
		return found
	}
	warehouses := read(1, "SELECT w_id, w_ytd FROM warehouse")
	districts := read(2, "SELECT d_w_id, d_id, d_ytd, d_next_o_id FROM district")
	customers := read(3, "SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment FROM customer")
	paidIn := read(2, "SELECT h_w_id, h_d_id, SUM(h_amount) FROM history GROUP BY h_w_id, h_d_id")
	paidBy := read(3, "SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id")
	orders := read(3, "SELECT o_w_id, o_d_id, o_id, o_c_id, o_carrier_id IS NULL, o_ol_cnt FROM orders")
	open := read(3, "SELECT no_w_id, no_d_id, no_o_id, 1 FROM new_order")
	lines := read(3, "SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*), COUNT(ol_delivery_d), SUM(ol_amount) FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id")
	stock := read(1, "SELECT 1, SUM(s_ytd), SUM(s_order_cnt), COUNT(*) FROM stock")
	ordered := read(1, "SELECT 1, SUM(ol_quantity), COUNT(*) FROM order_line WHERE ol_o_id > "+fmt.Sprint(tpccOrders))
	if err != nil {
		return nil, err
	}
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if len(warehouses) != tpccWarehouses || len(districts) != tpccWarehouses*tpccDistricts || len(customers) != tpccWarehouses*tpccDistricts*tpccCustomers {
		say("%d warehouses, %d districts, %d customers", len(warehouses), len(districts), len(customers))
	}
	sums, highest, least, undelivered := totals{}, map[[3]int]int{}, map[[3]int]int{}, map[[3]int]int{}
	for key, d := range districts {
		w := [3]int{key[0]}
		if sums[w] == nil {
			sums[w] = []int{0, 0}
		}
		sums[w][0] += d[0]
		if in := paidIn[key]; in == nil || in[0] != d[0] {
			say("9: district %v has %d, its history %v", key, d[0], in)
		} else {
			sums[w][1] += in[0]
		}
	}
	for key, w := range warehouses {
		if sums[key] == nil || sums[key][0] != w[0] || sums[key][1] != w[0] {
			say("1, 8: warehouse %d has %d, its districts and history %v", key[0], w[0], sums[key])
		}
	}
	delivered := map[[3]int]int{} // to customers
	for key, o := range orders {
		district := [3]int{key[0], key[1]}
		highest[district] = max(highest[district], key[2])
		line := lines[key]
		switch {
		case line == nil || line[0] != o[2]:
			say("4, 6: order %v has lines %v, want %d", key, line, o[2])
			continue
		case (o[1] > 0) != (open[key] != nil):
			say("5: order %v: not delivered %v, open %v", key, o[1] > 0, open[key])
		case o[1] > 0 && line[1] != 0, o[1] == 0 && line[1] != line[0]:
			say("7: order %v: not delivered %v, lines delivered %d of %d", key, o[1] > 0, line[1], line[0])
		}
		if o[1] == 0 {
			delivered[[3]int{key[0], key[1], o[0] / 100}] += line[2]
		}
	}
	if len(lines) != len(orders) {
		say("%d orders, and lines of %d", len(orders), len(lines))
	}
	for key := range open {
		district := [3]int{key[0], key[1]}
		undelivered[district]++
		if low, is := least[district]; !is || key[2] < low {
			least[district] = key[2]
		}
		if orders[key] == nil {
			say("5: order %v is open and not there", key)
		}
	}
	for key, d := range districts {
		if next := d[1] / 100; highest[key] != next-1 {
			say("2: district %v is at %d, and has order %d", key, next, highest[key])
		}
		if n := undelivered[key]; n > 0 && highest[key]-least[key]+1 != n {
			say("3: district %v has %d open orders from %d to %d", key, n, least[key], highest[key])
		}
	}
	for key, c := range customers {
		if paid := paidBy[key]; paid == nil || paid[0] != c[1] || c[0] != delivered[key]-paid[0] {
			say("10, 12: customer %v has the balance %d and has paid %d; delivered %d, history %v", key, c[0], c[1], delivered[key], paid)
		}
	}
	if s, o := stock[[3]int{1}], ordered[[3]int{1}]; s[0] != o[0] || s[1] != o[1] || s[2] != 100*tpccWarehouses*tpccItems {
		say("stock has given %v, orders have %v", s, o)
	}
	for _, key := range p.placed {
		if orders[key] == nil {
			say("order %v was acknowledged and is not there", key)
		}
	}
	return wrong, nil
}
