package trust

import (
	"testing"

	"locus/test/servers"
)

// A statement that fails leaves the transaction as it is on one server, whatever the session asks the shard next by itself.
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
