package trust

import (
	"strings"
	"testing"
)

// Ordinary statements of applications have the plain server's answers, for each user. This checks the stand
// itself.
func TestOrdinaryStatements(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.try(t,
			attack{name: "reads", say: []string{
				"SELECT COUNT(*) FROM test_order", "SELECT SUM(amount) FROM test_order WHERE buyer_uid = 7",
				"SELECT o.buyer_uid, SUM(i.quantity) FROM test_order o JOIN order_item i USING (order_id) GROUP BY o.buyer_uid",
				"SELECT * FROM product", "SELECT * FROM plain", "SELECT nothing FROM plain",
			}},
			attack{name: "writes", say: []string{
				"INSERT INTO test_order (buyer_uid, amount) VALUES (7, 1), (8, 2)", "UPDATE test_order SET status = 'new' WHERE buyer_uid = 9",
				"DELETE FROM test_order WHERE buyer_uid = 10", "UPDATE product SET price = 7", "INSERT INTO plain VALUES (9, 'nine')",
			}, look: []string{"SELECT status, COUNT(*) FROM test_order GROUP BY status", "SELECT * FROM plain"}},
			attack{name: "several in one text", say: []string{"SELECT 1; SELECT COUNT(*) FROM test_order; SELECT nothing; SELECT 2"}},
			attack{name: "prepared", args: []any{7}, say: []string{"SELECT COUNT(*) FROM test_order WHERE buyer_uid = ?"}},
			attack{name: "prepared, no placeholder", args: []any{nothing{}}, say: []string{"SELECT COUNT(*) FROM test_order"}},
			attack{name: "latin1", charset: "latin1", say: []string{"SELECT '\xe4' = 'x', HEX('\xe4')"}},
			attack{name: "a comment", say: []string{"/* controller:orders */ SELECT /* x */ COUNT(*) FROM test_order -- y", "# z\nSELECT COUNT(*) FROM plain"}},
			attack{name: "narrow may", user: "narrow", say: []string{"SELECT COUNT(*) FROM test_order"}},
			attack{name: "narrow may not", user: "narrow", refused: []string{"#1142"}, say: []string{"SELECT * FROM secret"}},
			attack{name: "database may not", user: "database", refused: []string{"#1142"}, say: []string{"SELECT * FROM mysql.user"}},
			attack{name: "reader may not", user: "reader", refused: []string{"#1142"}, say: []string{"DELETE FROM plain"}},
			attack{name: "dml may not", user: "dml", refused: []string{"#1142"}, say: []string{"DROP TABLE plain"}},
			attack{name: "careful may not", user: "careful", refused: []string{"1106"}, say: []string{"DELETE FROM plain"}},
			attack{name: "a view", everywhere: []string{"CREATE VIEW seen AS SELECT 1 AS a"}, clear: []string{"DROP VIEW seen"}, say: []string{"SELECT * FROM plain"}},
		)
	})
}

// The stand must see differences, because otherwise every attack would pass.
func TestDifferencesAreSeen(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.admins[1].must(t, "INSERT INTO test_order (order_id, order_no, buyer_uid, version) VALUES (1, 1, 1, 1)")
		if _, d := s.attacked(t, &attack{say: []string{"SELECT COUNT(*) FROM test_order"}}); !strings.Contains(d, "rows differ") {
			t.Errorf("a row more on a shard: %q", d)
		}
		if d := s.looked(t, &attack{look: []string{"SELECT COUNT(*) FROM test_order"}}); !strings.Contains(d, "rows differ") {
			t.Errorf("a row more on a shard, looked at: %q", d)
		}
		if d := s.unlikeRows(t); !strings.Contains(d, "test_order") {
			t.Errorf("a row more on a shard, afterwards: %q", d)
		}
		if d := s.unlikeRows(t); d != "" {
			t.Errorf("rows that were restored: %s", d)
		}
		s.admins[2].must(t, "UPDATE product SET price = 77 WHERE product_id = 1")
		if d := s.unlikeRows(t); !strings.Contains(d, "product") {
			t.Errorf("another copy of a global row: %q", d)
		}
		s.admins[shards].must(t, "DELETE FROM plain")
		if _, d := s.attacked(t, &attack{say: []string{"DELETE FROM plain"}}); !strings.Contains(d, "affected") {
			t.Errorf("rows that the plain server lacks: %q", d)
		}
		s.restore(t)
	})
}
