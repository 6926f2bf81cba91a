package trust

import "testing"

// locking are forms of LOCK TABLES, with what a session may use under them.
var locking = []attack{
	{name: "an alias", say: []string{
		"LOCK TABLES test_order AS o READ LOCAL, order_item WRITE, plain p READ", "SELECT COUNT(*) FROM test_order AS o", "SELECT COUNT(*) FROM test_order", "SELECT note FROM plain AS p WHERE id = 1", "SELECT * FROM plain",
		"UPDATE order_item SET quantity = 5 WHERE order_id = 1", "UNLOCK TABLES", "SELECT COUNT(*) FROM test_order",
	}},
	{name: "two aliases", say: []string{
		"LOCK TABLES test_order READ, test_order AS `a b` WRITE", "SELECT COUNT(*) FROM test_order", "UPDATE test_order AS `a b` SET status = 'x' WHERE buyer_uid = 7", "UPDATE test_order SET status = 'y' WHERE buyer_uid = 7",
		"SELECT COUNT(*) FROM test_order AS c", "UNLOCK TABLES",
	}},
	{name: "one alias twice", say: []string{"LOCK TABLES test_order a READ, order_item a READ", "SELECT COUNT(*) FROM test_order"}},
	{name: "priority", on: "mariadb", say: []string{"LOCK TABLES test_order LOW_PRIORITY WRITE", "UPDATE test_order SET status = 'x' WHERE buyer_uid = 7", "SELECT COUNT(*) FROM product", "UNLOCK TABLES"}},
	{name: "concurrent", on: "mariadb", say: []string{"LOCK TABLE test_order WRITE CONCURRENT, plain READ", "UPDATE test_order SET status = 'x' WHERE buyer_uid = 7", "UPDATE plain SET note = 'x'", "UNLOCK TABLES"}},
	{name: "waits", on: "mariadb", say: []string{"LOCK TABLES test_order o READ, product WRITE WAIT 1", "SELECT COUNT(*) FROM test_order o", "UNLOCK TABLES", "LOCK TABLES test_order WRITE NOWAIT", "SELECT COUNT(*) FROM test_order", "SELECT COUNT(*) FROM plain"}},
}

// LOCK TABLES locks what it does on one server, in each of its forms.
func TestFormsOfLockTables(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		for _, a := range locking {
			if a.on != "" && a.on != string(s.engine) {
				continue
			}
			t.Run(a.name, func(t *testing.T) {
				if refusal, d := s.attacked(t, &a); refusal != "" || d != "" {
					t.Errorf("%s: refusal %q; %s", s.engine, refusal, d)
				}
				if d := s.unlikeRows(t); d != "" {
					t.Errorf("%s: %s", s.engine, d)
				}
			})
		}
		if s.engine != "mariadb" {
			return
		}
		s.app.must(t, "LOCK TABLES test_order WRITE") // on every shard
		other := s.proxied(t, "app")
		defer other.Close()
		if got := other.say("LOCK TABLES test_order o READ NOWAIT"); got.number() != 1205 {
			t.Errorf("a table that another session has locked: %s", got)
		}
		s.app.must(t, "UNLOCK TABLES")
		other.must(t, "LOCK TABLES test_order o READ NOWAIT", "UNLOCK TABLES")
	})
}
