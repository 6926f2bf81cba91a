package trust

import (
	"slices"
	"testing"

	"locus/internal/test/servers"
)

// A failed statement leaves the transaction in the same state as on one server, whatever the proxy itself asks
// the shard next.
func TestAnErrorLeavesTheTransactionOpen(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		_, proxy, plain := clientShop(t, engine)
		a, b := proxy.open(t, "proxy"), plain.open(t, "plain")
		for _, text := range []string{
			"SET autocommit = 0", "INSERT INTO own19 (b) VALUES (1)", "SET SESSION sql_mode = 'ANSI_QUOTES'", "SELECT a FROM tt", "SET SESSION sql_mode = 'ANSI_QUOTES'",
			"HANDLER base READ FIRST", "SELECT @@sql_mode", "SELECT COUNT(*) FROM own19", "ROLLBACK", "SELECT COUNT(*) FROM own19", "SET autocommit = 1",
			"BEGIN", "INSERT INTO own19 (b) VALUES (2)", "SET NAMES latin1", "SELECT a FROM tt", "SET NAMES latin1", "BEGIN", "SELECT COUNT(*) FROM own19",
			"INSERT INTO own19 (b) VALUES (3)", "SELECT nothing, @m := 5 FROM own19", "SET @m = @m + 1", "ROLLBACK", "SELECT COUNT(*) FROM own19",
			"BEGIN", "SELECT COUNT(*) FROM test_order", "INSERT INTO own19 (b) VALUES (4)", "SELECT SQL_CALC_FOUND_ROWS nothing FROM own19", "SET NAMES utf8mb4", "COMMIT", "SELECT COUNT(*) FROM own19",
		} {
			if got, want := heard(a.say(text), proxy.schema), heard(b.say(text), plain.schema); got != want {
				t.Errorf("%s: %s, and on one server %s", text, got, want)
			}
		}
	})
}

// So it is for statements of several shards, of several in one text, and of the binary protocol.
func TestErrorsOfAllKindsLeaveTheTransactionOpen(t *testing.T) {
	const look = "SELECT COUNT(*), MIN(amount) FROM test_order WHERE buyer_uid < 9"
	wrong := []attack{
		{name: "no such table", say: []string{"SELECT a FROM nowhere"}},
		{name: "an assignment", say: []string{"SELECT nothing, @m := 5 FROM plain"}},
		{name: "scatter", say: []string{"SELECT nothing FROM test_order"}},
		{name: "gather", say: []string{"SELECT COUNT(DISTINCT nothing) FROM test_order JOIN product ON product_id = buyer_uid"}},
		{name: "on several shards, a duplicate", say: []string{"INSERT INTO product SELECT * FROM product"}},
		{name: "several in one text", say: []string{"SELECT 1; SELECT nothing FROM plain; SELECT 2"}},
		{name: "prepared", args: []any{7}, say: []string{"SELECT nothing FROM test_order WHERE buyer_uid = ?"}},
		{name: "prepared, as it runs", args: []any{7}, say: []string{"UPDATE plain SET id = 1 WHERE id = 2 + 0 * ?"}},
		{name: "PREPARE", say: []string{"PREPARE p FROM 'UPDATE plain SET id = 1 WHERE id = 2'", "EXECUTE p"}},
		{name: "EXECUTE of nothing", say: []string{"EXECUTE nobody"}},
		{name: "SET", say: []string{"SET sql_mode = 'nothing'"}},
		{name: "a savepoint", say: []string{"ROLLBACK TO nowhere"}},
		{name: "CALL", say: []string{"CALL nobody()"}},
		{name: "SIGNAL", say: []string{"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'"}},
		{name: "KILL", say: []string{"KILL QUERY 4000000000"}},
	}
	stands(t, func(t *testing.T, s *stand) {
		for _, begin := range [][]string{{"BEGIN"}, {"SET autocommit = 0"}} {
			for _, w := range wrong {
				w.name = begin[0] + ", " + w.name
				w.maybe, w.refused = []uint16{1105, 1235}, nil
				before := append(slices.Clone(begin), "UPDATE test_order SET amount = 3 WHERE buyer_uid = 7", "INSERT INTO plain VALUES (77, 'x')", "SET SESSION sql_mode = 'ANSI_QUOTES'")
				after := []string{"SET SESSION sql_mode = 'ANSI_QUOTES'", "SET NAMES latin1", look, "SELECT COUNT(*) FROM plain", "ROLLBACK", look, "SELECT COUNT(*) FROM plain"}
				proxy, plain := s.proxied(t, "app"), s.direct(t, "app")
				say := func(text string, args ...any) {
					got, want := proxy.say(text, args...), plain.say(text, args...)
					if d := differ(got, want); d != "" && w.refusal(got) == "" {
						t.Errorf("%s, %s: %q: %s differ\n  proxy: %s\n  plain: %s", s.engine, w.name, text, d, got, want)
					}
				}
				for _, text := range before {
					say(text)
				}
				for _, text := range w.say {
					say(text, w.args...)
				}
				for _, text := range after {
					say(text)
				}
				_, _ = proxy.Close(), plain.Close()
			}
		}
	})
}
