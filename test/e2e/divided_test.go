package e2e

import (
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locus/idgen/orderid"
	"locus/router"
	"locus/router/cluster"
	"locus/test/shop"
)

// divided is a shop in which the rows of buyer 42 are divided between the first shard and the spare one, by their
// sequences. Each of the two has outdated copies of the other's rows.
type divided struct {
	*fencing
	orders map[int64]int64 // amounts of buyer 42's orders, by ID
}

const (
	staleAmount   = 1_000_000
	others        = 5 // orders of another buyer, with this amount
	othersAmount  = 1000
	itemsPerOrder = 2
	hotRows       = "order_id BETWEEN 2257851525684527104 AND 2257992263172882431" // of gene 0x3eab
)

var hotLayout, _ = orderid.ByName("int64")

// divide does the work of a mover, and then changes the rows that a shard does not own.
func (d *divided) divide(share orderid.Residue) {
	d.t.Helper()
	d.copy()
	move := router.Move{Job: "1", Genes: held42, From: "s0", To: "s2", BySequence: true, Share: share}
	var changes []router.Change
	if now := d.routes.Shard(d.routes.Lookup(gene42)); share == orderid.Modulus && now == "s0" {
		changes = []router.Change{{Genes: held42, To: "s2"}}
	} else if share < orderid.Modulus && now == "s2" {
		changes = []router.Change{{Genes: held42, To: "s0"}}
	}
	next, err := d.routes.Step([]router.Move{move}, changes...)
	if err != nil {
		d.t.Fatal(err)
	}
	d.apply(next)
	for _, shard := range []int{0, 2} {
		for id := range d.orders {
			if !d.owns(shard, id) {
				exec(d.t, d.Shard(d.t, shard), fmt.Sprintf("UPDATE test_order SET amount = %d, status = 'stale' WHERE order_id = %d", staleAmount, id))
				exec(d.t, d.Shard(d.t, shard), fmt.Sprintf("UPDATE order_item SET quantity = %d WHERE order_id = %d", staleAmount, id))
			}
		}
	}
}

// owns reports whether the shard owns an order of the hot gene.
func (d *divided) owns(shard int, id int64) bool {
	at := d.routes.LookupRow(gene42, hotLayout.Residue(orderid.ID{Lo: uint64(id)}))
	return d.routes.Shard(at) == router.ShardName(fmt.Sprintf("s%d", shard))
}

// copy brings each row of the hot gene to both shards, as its owner has it.
func (d *divided) copy() {
	d.t.Helper()
	for _, table := range []string{"test_order", "order_item"} {
		var owned []string
		for _, shard := range []int{0, 2} {
			db := d.Shard(d.t, shard)
			for _, id := range rows(d.t, db, "SELECT DISTINCT order_id FROM "+table+" WHERE "+hotRows) {
				var n int64
				if _, err := fmt.Sscan(id, &n); err != nil {
					d.t.Fatal(err)
				}
				if d.owns(shard, n) {
					owned = append(owned, d.literals(db, table, n)...)
				}
			}
		}
		for _, shard := range []int{0, 2} {
			exec(d.t, d.Shard(d.t, shard), "DELETE FROM "+table+" WHERE "+hotRows)
			if len(owned) > 0 {
				exec(d.t, d.Shard(d.t, shard), "INSERT INTO "+table+" VALUES "+strings.Join(owned, ", "))
			}
		}
	}
}

// literals returns the rows of an order as an INSERT writes them.
func (d *divided) literals(db *sql.DB, table string, order int64) []string {
	columns := map[string]string{
		"test_order": "order_id, order_no, buyer_uid, amount, QUOTE(status), version, QUOTE(created_at)",
		"order_item": "item_id, order_id, product_id, quantity, price",
	}[table]
	list := rows(d.t, db, fmt.Sprintf("SELECT CONCAT_WS(',', %s) FROM %s WHERE order_id = %d", columns, table, order))
	for i := range list {
		list[i] = "(" + list[i] + ")"
	}
	return list
}

// insert inserts so many orders of buyer 42 through the proxy, each with its items.
func (d *divided) insert(db *sql.DB, n int) {
	d.t.Helper()
	var values []string
	for i := range n {
		values = append(values, fmt.Sprintf("(42, %d)", i+1))
	}
	first, err := exec(d.t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES "+strings.Join(values, ", ")).LastInsertId()
	if err != nil {
		d.t.Fatal(err)
	}
	var items []string
	for i := range n {
		d.orders[first+int64(i)] = int64(i + 1)
		for range itemsPerOrder {
			items = append(items, fmt.Sprintf("(%d, 1, 3)", first+int64(i)))
		}
	}
	exec(d.t, db, "INSERT INTO order_item (order_id, product_id, quantity) VALUES "+strings.Join(items, ", "))
}

func (d *divided) sum() (total int64) {
	for _, amount := range d.orders {
		total += amount
	}
	return total
}

func (d *divided) ids() []int64 {
	var ids []int64
	for id := range d.orders {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// whole is [number] for a value that may be a DECIMAL.
func whole(t *testing.T, db interface {
	QueryRow(string, ...any) *sql.Row
}, query string, args ...any,
) int64 {
	t.Helper()
	var n sql.NullString
	if err := db.QueryRow(query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	digits, _, _ := strings.Cut(n.String, ".")
	i, _ := strconv.ParseInt(digits, 10, 64)
	return i
}

// reads compares answers with the existing rows.
func (d *divided) reads(db interface {
	Query(string, ...any) (*sql.Rows, error)
	QueryRow(string, ...any) *sql.Row
},
) {
	d.t.Helper()
	n, sum := int64(len(d.orders)), d.sum()
	ids := d.ids()
	var list []string
	for _, id := range ids {
		list = append(list, fmt.Sprint(id))
	}
	for query, want := range map[string]int64{
		"SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42":                                                                                 n,
		"SELECT SUM(amount) FROM test_order WHERE buyer_uid = 42":                                                                              sum,
		"SELECT COUNT(*) FROM test_order":                                                                                                      n + others,
		"SELECT SUM(amount) FROM test_order":                                                                                                   sum + others*othersAmount,
		"SELECT SUM(amount) FROM test_order WHERE buyer_uid IN (42, 10001)":                                                                    sum + others*othersAmount,
		"SELECT SUM(amount) FROM test_order WHERE order_id IN (" + strings.Join(list, ", ") + ")":                                              sum,
		"SELECT SUM(amount) FROM test_order WHERE " + hotRows:                                                                                  sum,
		"SELECT COUNT(DISTINCT order_id) FROM test_order":                                                                                      n + others,
		"SELECT SUM(quantity) FROM order_item":                                                                                                 3 * itemsPerOrder * n,
		"SELECT SUM(i.quantity) FROM test_order o JOIN order_item i ON i.order_id = o.order_id WHERE o.buyer_uid = 42":                         3 * itemsPerOrder * n,
		"SELECT SUM(i.quantity * o.amount) FROM test_order o JOIN order_item i ON i.order_id = o.order_id":                                     3 * itemsPerOrder * sum,
		"SELECT SUM(o.amount) FROM test_order o LEFT JOIN order_item i ON i.order_id = o.order_id AND i.product_id = 2 WHERE o.buyer_uid = 42": sum,
		"SELECT SUM(c) FROM (SELECT buyer_uid, COUNT(*) c FROM test_order WHERE buyer_uid = 42 GROUP BY buyer_uid) x":                          n,
		"SELECT COUNT(*) FROM test_order a JOIN test_order b ON b.buyer_uid = a.buyer_uid WHERE a.buyer_uid = 42":                              n * n,
		"SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42 AND order_id IN (SELECT order_id FROM order_item WHERE quantity = 3)":            n,
		"SELECT COUNT(*) FROM test_order a WHERE buyer_uid = 42 AND EXISTS (SELECT 1 FROM order_item i WHERE i.order_id = a.order_id)":         n,
	} {
		if got := whole(d.t, db, query); got != want {
			d.t.Errorf("%s: %d, and not %d", query, got, want)
		}
	}
	if got := rows(d.t, db, "SELECT buyer_uid, COUNT(*) FROM test_order WHERE buyer_uid = ? GROUP BY buyer_uid", 42); len(got) != 1 {
		d.t.Errorf("groups of one buyer: %v", got)
	}
	if got := rows(d.t, db, "SELECT order_id FROM test_order WHERE buyer_uid = 42 ORDER BY order_id LIMIT 3"); !slices.Equal(got, list[:3]) {
		d.t.Errorf("the first three are %v, and not %v", got, list[:3])
	}
	for _, id := range ids {
		if got := whole(d.t, db, "SELECT amount FROM test_order WHERE order_id = ?", id); got != d.orders[id] {
			d.t.Errorf("order %d has amount %d, and not %d", id, got, d.orders[id])
		}
		if got := whole(d.t, db, "SELECT SUM(quantity) FROM order_item WHERE order_id = ?", id); got != 3*itemsPerOrder {
			d.t.Errorf("order %d has %d of items", id, got)
		}
	}
	no := whole(d.t, db, "SELECT order_no FROM test_order WHERE order_id = ?", ids[0])
	if got := rows(d.t, db, "SELECT order_id FROM test_order WHERE order_no = ?", no); len(got) != 1 || got[0] != list[0] {
		d.t.Errorf("by its order number: %v", got)
	}
}

// writes changes rows by owner, by ID and in transactions.
func (d *divided) writes(db *sql.DB) {
	d.t.Helper()
	d.insert(db, 7)
	if n, _ := exec(d.t, db, "UPDATE test_order SET amount = amount + ? WHERE buyer_uid = 42", 1).RowsAffected(); n != int64(len(d.orders)) {
		d.t.Errorf("%d rows are changed, of %d", n, len(d.orders))
	}
	for id := range d.orders {
		d.orders[id]++
	}
	ids := d.ids()
	for _, id := range ids[len(ids)-4:] {
		exec(d.t, db, "UPDATE test_order SET amount = 50 WHERE order_id = ?", id)
		d.orders[id] = 50
	}
	for _, id := range ids[:2] {
		for _, query := range []string{"DELETE FROM test_order WHERE order_id = ?", "DELETE FROM order_item WHERE order_id = ?"} {
			if n, _ := exec(d.t, db, query, id).RowsAffected(); n == 0 {
				d.t.Errorf("%s: %d is not there", query, id)
			}
		}
		delete(d.orders, id)
	}
	d.doubles(db)
	tx := begin(d.t, db)
	locked := rows(d.t, tx, "SELECT order_id FROM test_order WHERE buyer_uid = 42 FOR UPDATE")
	if len(locked) != len(d.orders) {
		d.t.Errorf("%d rows are locked, of %d", len(locked), len(d.orders))
	}
	exec(d.t, tx, "UPDATE test_order SET amount = 0 WHERE buyer_uid = 42")
	exec(d.t, tx, "INSERT INTO test_order (buyer_uid, amount) VALUES (42, 1), (42, 2), (42, 3)")
	if got := whole(d.t, tx, "SELECT SUM(amount) FROM test_order WHERE buyer_uid = 42"); got != 6 {
		d.t.Errorf("within the transaction the sum is %d", got)
	}
	if err := tx.Rollback(); err != nil {
		d.t.Error(err)
	}
	tx = begin(d.t, db)
	exec(d.t, tx, "UPDATE test_order SET amount = amount + 2 WHERE buyer_uid = ?", 42)
	if err := tx.Commit(); err != nil {
		d.t.Fatal(err)
	}
	for id := range d.orders {
		d.orders[id] += 2
	}
}

// doubles inserts all orders again, from a query, and deletes those.
func (d *divided) doubles(db *sql.DB) {
	d.t.Helper()
	n := int64(len(d.orders))
	exec(d.t, db, "INSERT INTO test_order (buyer_uid, amount) SELECT buyer_uid, amount FROM test_order WHERE buyer_uid = 42")
	if got, sum := whole(d.t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"), whole(d.t, db, "SELECT SUM(amount) FROM test_order WHERE buyer_uid = 42"); got != 2*n || sum != 2*d.sum() {
		d.t.Errorf("twice as many as %d orders of %d together are %d of %d", n, d.sum(), got, sum)
	}
	var list []string
	for _, id := range d.ids() {
		list = append(list, fmt.Sprint(id))
	}
	if got, _ := exec(d.t, db, "DELETE FROM test_order WHERE buyer_uid = 42 AND order_id NOT IN ("+strings.Join(list, ", ")+")").RowsAffected(); got != n {
		d.t.Errorf("%d orders are deleted again, of %d", got, n)
	}
}

// owned checks the shards: each has its own rows, and has not changed the others.
func (d *divided) owned() {
	d.t.Helper()
	found := 0
	for _, shard := range []int{0, 2} {
		for _, row := range rows(d.t, d.Shard(d.t, shard), "SELECT CONCAT(order_id, ' ', status = 'stale', ' ', ROUND(amount)) FROM test_order WHERE "+hotRows) {
			var id, stale, amount int64
			if _, err := fmt.Sscan(row, &id, &stale, &amount); err != nil {
				d.t.Fatal(err)
			}
			switch owns := d.owns(shard, id); {
			case !owns && (stale != 1 || amount != staleAmount):
				d.t.Errorf("s%d has written %s, which is not its own", shard, row)
			case owns && amount != d.orders[id]:
				d.t.Errorf("s%d has %s, and it should be %d", shard, row, d.orders[id])
			case owns:
				found++
			}
		}
	}
	if found != len(d.orders) {
		d.t.Errorf("the shards have %d rows, of %d", found, len(d.orders))
	}
}

func TestADividedGene(t *testing.T) {
	fenced(t, func(f *fencing, db *sql.DB) {
		d := &divided{f, map[int64]int64{}}
		for range others {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (10001, ?)", othersAmount)
		}
		d.insert(db, 12)
		for _, share := range []orderid.Residue{7, 55, orderid.Modulus, 20} {
			d.divide(share)
			d.reads(db)
			d.writes(db)
			d.reads(db)
			d.owned()
			if share > 0 && share < orderid.Modulus {
				d.refuses(db)
			}
		}
	})
}

// guard checks reads of several shards.
func (d *divided) guard(g cluster.Guard) {
	d.t.Helper()
	app := d.Cluster.Users[shop.User]
	app.Scatter = g
	d.Cluster.Users[shop.User] = app
	renewed, err := d.routes.Step(d.routes.Moves())
	if err != nil {
		d.t.Fatal(err)
	}
	d.apply(renewed)
}

// refuses checks that statements which need one server are refused.
func (d *divided) refuses(db *sql.DB) {
	d.t.Helper()
	for query, code := range map[string]string{
		"DELETE FROM test_order WHERE buyer_uid = 42 ORDER BY order_id + 1 LIMIT 1":                                                              "locus-1103",
		"UPDATE test_order a JOIN test_order b ON b.buyer_uid = a.buyer_uid SET a.amount = b.amount WHERE a.buyer_uid = 42":                      "locus-1101",
		fmt.Sprintf("UPDATE test_order SET order_id = %d WHERE buyer_uid = 42 AND amount = -1", d.ids()[0]):                                      "locus-1204",
		fmt.Sprintf("SELECT * FROM test_order WHERE buyer_uid IN (SELECT buyer_uid FROM order_item WHERE order_id = %d) FOR UPDATE", d.ids()[0]): "locus-1101",
	} {
		if _, err := db.Exec(query); err == nil || !strings.Contains(err.Error(), code) {
			d.t.Errorf("%s: %v, and not %s", query, err, code)
		}
	}
	exec(d.t, db, "DELETE FROM test_order WHERE buyer_uid = 10001 AND amount = -1 LIMIT 1") // of another gene
	d.guard(cluster.GuardRefuse)
	if _, err := db.Exec("SELECT COUNT(*) FROM test_order"); err == nil || !strings.Contains(err.Error(), "locus-1104") {
		d.t.Errorf("a user who may not reads all shards: %v", err)
	}
	if got := whole(d.t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 42"); got != int64(len(d.orders)) {
		d.t.Errorf("and finds %d of %d orders by their owner", got, len(d.orders))
	}
	d.guard(cluster.GuardAllow)
}
