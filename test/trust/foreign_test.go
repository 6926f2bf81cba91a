package trust

import "testing"

// foreignKeys connect rows of one shard with rows that may be on another one, so the proxy refuses writes to
// both tables. They are on the first shard and on the plain server.
var foreignKeys = []struct {
	first, clear []string
	attacks      []attack
}{
	{
		first: []string{"CREATE TABLE invoice (id INT PRIMARY KEY, order_id BIGINT, CONSTRAINT torn FOREIGN KEY (order_id) REFERENCES test_order (order_id) ON DELETE CASCADE)"},
		clear: []string{"DROP TABLE invoice"},
		attacks: []attack{
			{name: "to sharded, referring", refused: []string{"1007"}, say: []string{"INSERT INTO invoice VALUES (1, NULL)"}},
			{name: "to sharded, referred to", refused: []string{"1007"}, say: []string{"DELETE FROM test_order WHERE buyer_uid = 7"}},
			{name: "to sharded, read", say: []string{"SELECT COUNT(*) FROM invoice JOIN test_order USING (order_id)", "SELECT COUNT(*) FROM test_order"}},
		},
	},
	{
		first: []string{"ALTER TABLE order_item ADD CONSTRAINT torn FOREIGN KEY (quantity) REFERENCES plain (id) ON DELETE CASCADE"},
		clear: []string{"ALTER TABLE order_item DROP FOREIGN KEY torn", "ALTER TABLE order_item DROP INDEX torn"},
		attacks: []attack{
			{name: "of sharded, referring", refused: []string{"1007"}, say: []string{"INSERT INTO order_item (order_id, product_id, quantity) SELECT order_id, 1, 99 FROM test_order WHERE buyer_uid = 7"}},
			{name: "of sharded, referred to", refused: []string{"1007"}, say: []string{"DELETE FROM plain WHERE id = 2"}},
			{name: "of sharded, LOAD DATA", refused: []string{"1007"}, say: []string{"LOAD DATA LOCAL INFILE 'x' INTO TABLE order_item"}},
		},
	},
}

// whole foreign keys are on every server, and act as on one.
var whole = []string{
	"ALTER TABLE order_item ADD CONSTRAINT items FOREIGN KEY (order_id) REFERENCES test_order (order_id) ON DELETE CASCADE",
	"ALTER TABLE order_item ADD CONSTRAINT goods FOREIGN KEY (product_id) REFERENCES product (product_id) ON DELETE CASCADE ON UPDATE CASCADE",
}

// loose ends them, and their sessions' way of writing.
var loose = []string{
	"ALTER TABLE order_item DROP FOREIGN KEY items, DROP FOREIGN KEY goods",
	"ALTER TABLE order_item DROP INDEX goods",
	"SET foreign_key_checks = 1",
}

// A foreign key has the same effect as on one server, or its tables can't be written.
func TestForeignKeys(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		for _, k := range foreignKeys {
			for _, i := range []int{0, shards} {
				s.admins[i].must(t, k.first...)
			}
			s.noticed(t, k.first)
			s.try(t, k.attacks...)
			for _, i := range []int{0, shards} {
				s.admins[i].must(t, k.clear...)
			}
			s.noticed(t, k.clear)
		}
		for _, one := range append([]*session{s.app, s.plain}, s.admins...) {
			one.must(t, "SET foreign_key_checks = 0") // the rows are put in order table by table
		}
		for _, admin := range s.admins {
			admin.must(t, whole...)
		}
		s.noticed(t, whole)
		t.Cleanup(func() { // before other tests use the stand
			for _, admin := range s.admins {
				admin.must(t, loose...)
			}
			s.noticed(t, loose)
		})
		s.try(t,
			attack{name: "of one shard", say: []string{"DELETE FROM test_order WHERE buyer_uid = 7", "SELECT COUNT(*) FROM order_item"}},
			attack{name: "of all shards", say: []string{"DELETE FROM test_order WHERE amount > 50", "SELECT COUNT(*) FROM order_item"}},
			attack{name: "of a global table", say: []string{"DELETE FROM product WHERE product_id = 3", "UPDATE product SET product_id = 33 WHERE product_id = 4", "SELECT product_id, COUNT(*) FROM order_item GROUP BY product_id"}},
			attack{name: "that is not there", say: []string{"INSERT INTO order_item (order_id, product_id) SELECT order_id, 77 FROM test_order"}},
			attack{name: "rolled back", say: []string{"BEGIN", "DELETE FROM product WHERE product_id = 3", "SELECT COUNT(*) FROM order_item", "ROLLBACK", "SELECT COUNT(*) FROM order_item"}},
		)
	})
}
