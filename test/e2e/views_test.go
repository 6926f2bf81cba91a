package e2e

import (
	"database/sql"
	"fmt"
	"reflect"
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// A view over sharded tables is made on every shard, and read as the derived table that it is.
func TestViewsOverShardedTables(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		for i := range 12 {
			exec(t, db, "INSERT INTO test_order (buyer_uid, amount, status) VALUES (?, ?, ?)", i%5, 10*i, []string{"new", "paid"}[i%2])
		}
		exec(t, db, "INSERT INTO product VALUES (1, 'cup', 2.5), (2, 'pot', 9)")
		exec(t, db, "CREATE VIEW spent (buyer, total, latest) AS SELECT buyer_uid, SUM(amount), MAX(created_at) FROM test_order WHERE status = 'paid' GROUP BY buyer_uid")
		exec(t, db, "CREATE OR REPLACE VIEW spent (buyer, total) AS SELECT buyer_uid, SUM(amount) FROM test_order WHERE status = 'paid' GROUP BY buyer_uid")
		exec(t, db, "CREATE VIEW most AS SELECT MAX(total) AS total FROM spent")
		exec(t, db, "CREATE VIEW dear AS SELECT name, price FROM product WHERE price > 5")
		for i := range 2 {
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()"); got != 3 {
				t.Errorf("s%d has %d views", i, got)
			}
		}
		const spent = "(SELECT buyer_uid AS buyer, SUM(amount) AS total FROM test_order WHERE status = 'paid' GROUP BY buyer_uid)"
		for view, derived := range map[string]string{
			"SELECT * FROM spent ORDER BY buyer":                                         "SELECT * FROM " + spent + " AS spent ORDER BY buyer",
			"SELECT spent.total FROM spent WHERE buyer = 3":                              "SELECT total FROM " + spent + " AS spent WHERE buyer = 3",
			"SELECT s.buyer FROM spent s WHERE s.total = (SELECT MAX(total) FROM spent)": "SELECT s.buyer FROM " + spent + " s WHERE s.total = (SELECT MAX(total) FROM " + spent + " AS m)",
			"SELECT total FROM most":                                                     "SELECT MAX(total) FROM " + spent + " AS m",
			"SELECT o.buyer_uid, o.amount FROM test_order o JOIN spent ON spent.buyer = o.buyer_uid WHERE spent.total > 100 ORDER BY 1, 2": "SELECT o.buyer_uid, o.amount FROM test_order o JOIN " + spent + " AS spent ON spent.buyer = o.buyer_uid WHERE spent.total > 100 ORDER BY 1, 2",
			"SELECT name FROM dear": "SELECT name FROM product WHERE price > 5",
			"SELECT COUNT(*) FROM (SELECT total FROM spent UNION ALL SELECT price FROM dear) AS x": "SELECT COUNT(*) FROM (SELECT total FROM " + spent + " AS a UNION ALL SELECT price FROM product WHERE price > 5) AS x",
			"WITH w AS (SELECT total FROM spent) SELECT SUM(total) FROM w":                         "SELECT SUM(total) FROM " + spent + " AS w",
			"SELECT buyer FROM spent WHERE CONNECTION_ID() > 0 ORDER BY total DESC LIMIT 1":        "SELECT buyer FROM " + spent + " AS spent ORDER BY total DESC LIMIT 1",
		} {
			if got, want := rows(t, db, view), rows(t, db, derived); !reflect.DeepEqual(got, want) || len(got) == 0 {
				t.Errorf("%s: %v, want %v", view, got, want)
			}
		}
		var total float64
		if err := db.QueryRow("SELECT total FROM spent WHERE buyer = ?", 3).Scan(&total); err != nil || total != 30 {
			t.Errorf("placeholder: %v, %v", total, err)
		}
		r, err := db.Query("SELECT (SELECT MAX(total) FROM spent), 1+1 FROM most")
		if err != nil {
			t.Fatal(err)
		}
		columns, err := r.Columns()
		if _ = r.Close(); err != nil || columns[0] != "(SELECT MAX(total) FROM spent)" {
			t.Errorf("columns %q, %v", columns, err)
		}

		for _, text := range []string{"UPDATE dear SET price = 1", "INSERT INTO dear VALUES ('x', 1)", "DELETE FROM dear", "INSERT INTO setting SELECT buyer, total FROM spent"} {
			_, err := db.Exec(text)
			refused(t, err, 1235, "locus-1007")
		}
		_, err = db.Exec("CREATE VIEW mixed AS SELECT 1 FROM test_order, setting")
		refused(t, err, 1235, "locus-1007")
		_, err = db.Exec("CREATE VIEW spent AS SELECT 1 AS one FROM test_order")
		refused(t, err, 1050, "spent")
		exec(t, s.Shard(t, 0), "CREATE VIEW byhand AS SELECT amount FROM test_order ORDER BY amount")
		for text, words := range map[string]string{
			"SELECT * FROM spent FOR UPDATE": "spent",
			"SELECT * FROM byhand":           "ORDER BY without LIMIT",
			"CREATE VIEW sorted AS SELECT amount FROM test_order ORDER BY amount":           "ORDER BY without LIMIT",
			`CREATE VIEW slashed AS SELECT amount FROM test_order WHERE status = 'a\\b'`:    "backslash",
			"CREATE VIEW lettered AS SELECT amount FROM test_order WHERE status = '\u00e4'": "ASCII",
			"CREATE VIEW setting AS SELECT buyer_uid FROM test_order":                       "setting",
			"CREATE OR REPLACE VIEW setting AS SELECT buyer_uid FROM test_order":            "setting",
			"CREATE OR REPLACE VIEW order_item AS SELECT buyer_uid FROM test_order":         "order_item",
		} {
			_, err := db.Exec(text)
			refused(t, err, 1235, "locus-1007: ")
			refused(t, err, 1235, words)
		}
		exec(t, s.Shard(t, 0), "DROP VIEW byhand")

		exec(t, db, "/* a migration */ ALTER ALGORITHM = MERGE VIEW spent (buyer, total) AS SELECT buyer_uid, COUNT(*) FROM test_order GROUP BY buyer_uid")
		exec(t, db, "alter view `dear` as select name from product")
		for i := range 2 {
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() AND VIEW_DEFINITION LIKE '%count(%'"); got != 1 {
				t.Errorf("s%d: the view is not altered", i)
			}
		}
		if got := fmt.Sprint(rows(t, db, "SELECT * FROM spent ORDER BY buyer")); got != fmt.Sprint(rows(t, db, "SELECT buyer_uid, COUNT(*) FROM test_order GROUP BY buyer_uid ORDER BY 1")) {
			t.Errorf("the altered view: %s", got)
		}
		_, err = db.Exec("ALTER VIEW spent AS SELECT buyer_uid FROM test_order ORDER BY amount")
		refused(t, err, 1235, "ORDER BY without LIMIT")
		_, err = db.Exec("ALTER VIEW nosuch AS SELECT buyer_uid FROM test_order")
		refused(t, err, 1064, "locus-1001")
		exec(t, db, "DROP VIEW most, spent")
		exec(t, db, "DROP VIEW dear")
		for i := range 2 {
			if got := number(t, s.Shard(t, i), "SELECT COUNT(*) FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()"); got != 0 {
				t.Errorf("s%d has %d views left", i, got)
			}
		}
		_, err = db.Exec("DROP VIEW dear")
		if err == nil {
			t.Error("a view that is gone was dropped")
		}
	})
}

// TPC-H's fifteenth query, with its view, as the benchmark has it.
func TestQ15WithItsView(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		exec(t, db, "CREATE TABLE supplier (s_suppkey BIGINT NOT NULL PRIMARY KEY, s_name CHAR(25) NOT NULL, s_address VARCHAR(40) NOT NULL, s_phone CHAR(15) NOT NULL) COMMENT 'locus: global'")
		exec(t, db, `CREATE TABLE lineitem (l_orderkey BIGINT NOT NULL, l_linenumber BIGINT NOT NULL, l_suppkey BIGINT NOT NULL, l_extendedprice DECIMAL(15,2) NOT NULL,
			l_discount DECIMAL(15,2) NOT NULL, l_shipdate DATE NOT NULL, gene INT UNSIGNED NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber), KEY (gene)) COMMENT 'locus: owner=l_orderkey gene=gene'`)
		best, most := "", 0.0
		revenue := map[int]float64{}
		for i := range 60 {
			supplier, price := i%7, float64(100+i)
			exec(t, db, "INSERT INTO lineitem (l_orderkey, l_linenumber, l_suppkey, l_extendedprice, l_discount, l_shipdate) VALUES (?, 1, ?, ?, 0.10, ?)",
				i, supplier, price, fmt.Sprintf("1996-%02d-15", 1+i%4))
			if 1+i%4 <= 3 {
				revenue[supplier] += price * 0.9
			}
		}
		for supplier := range 7 {
			exec(t, db, "INSERT INTO supplier VALUES (?, ?, 'street', 'phone')", supplier, fmt.Sprintf("Supplier#%d", supplier))
			if revenue[supplier] > most {
				best, most = fmt.Sprint(supplier), revenue[supplier]
			}
		}
		exec(t, db, `create view revenue0 (supplier_no, total_revenue) as
			select l_suppkey, sum(l_extendedprice * (1 - l_discount)) from lineitem
			where l_shipdate >= date '1996-01-01' and l_shipdate < date '1996-01-01' + interval '3' month group by l_suppkey`)
		var key, name, address, phone string
		var total float64
		err := db.QueryRow(`select s_suppkey, s_name, s_address, s_phone, total_revenue from supplier, revenue0
			where s_suppkey = supplier_no and total_revenue = (select max(total_revenue) from revenue0) order by s_suppkey`).Scan(&key, &name, &address, &phone, &total)
		if err != nil || key != best || total < most-0.001 || total > most+0.001 {
			t.Errorf("supplier %s with %v, %v; want %s with %v", key, total, err, best, most)
		}
		exec(t, db, "drop view revenue0")
	})
}
