package trust

import (
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/router/stmt"
)

// Functions that depend on the number of a row, on the server that computes them, or on all rows of a server
// have the result of one server, or are refused.
func TestWhatOneServerComputes(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.try(t, oneServers...)
		s.try(t, only("mariadb", oneMariaDBs)...)
		s.try(t, fullText...)
	})
}

// oneServers are queries of several shards whose rows show one sequence, or one server.
var oneServers = []attack{
	{name: "RAND(seed), ordered", say: []string{"SELECT COUNT(*), COUNT(DISTINCT r), MIN(r), MAX(r) FROM (SELECT buyer_uid, RAND(1) r FROM test_order ORDER BY buyer_uid) d"}},
	{name: "RAND(seed) as a column", say: []string{"SELECT RAND(1) FROM test_order", "SELECT RAND(1 + 1) r FROM test_order ORDER BY r LIMIT 7", "SELECT RAND(@none) FROM test_order"}},
	{name: "RAND(seed) bound", say: []string{"SELECT RAND(?) FROM test_order"}, args: []any{int64(3)}},
	{name: "RAND(seed) summed up", say: []string{"SELECT ROUND(SUM(RAND(1)), 9), ROUND(AVG(RAND(2)), 9), MIN(RAND(3)), MAX(RAND(4)) FROM test_order"}},
	{name: "RAND(seed) in groups", say: []string{"SELECT status, ROUND(SUM(RAND(1)), 9) FROM test_order GROUP BY status", "SELECT COUNT(DISTINCT RAND(1)) FROM test_order"}},
	{name: "RAND(seed) in WHERE", say: []string{"SELECT COUNT(*) FROM test_order WHERE RAND(1) < 0.5", "SELECT COUNT(*) FROM test_order WHERE amount >= 0 AND RAND(1) < 0.5", "SELECT COUNT(*) FROM test_order WHERE RAND(1) < 0.5 AND amount >= 0"}},
	{name: "RAND(seed) in HAVING", say: []string{"SELECT COUNT(*) FROM (SELECT order_id FROM test_order HAVING RAND(1) < 0.5) d"}},
	{name: "RAND(seed) in a join", say: []string{"SELECT RAND(3) FROM test_order o JOIN order_item i ON i.order_id = o.order_id"}},
	{name: "RAND(column) that a condition fixes", say: []string{"SELECT RAND(p.product_id) FROM product p JOIN order_item i ON i.product_id = p.product_id WHERE p.product_id = 1"}},
	{name: "RAND(column)", say: []string{"SELECT buyer_uid, RAND(buyer_uid) FROM test_order", "SELECT buyer_uid, RAND(buyer_uid) FROM test_order ORDER BY 2, 1 LIMIT 5"}},
	{name: "RAND(seed) in a UNION", say: []string{"SELECT buyer_uid FROM test_order UNION ALL SELECT RAND(1) FROM test_order"}},
	{name: "UUID_SHORT()", say: []string{"SELECT COUNT(DISTINCT u) FROM (SELECT UUID_SHORT() u FROM test_order) d"}},
	{name: "the server's variables", say: []string{
		"SELECT MAX(@@server_id) = MIN(@@server_id), MAX(@@port) = MIN(@@port) FROM test_order", "SELECT buyer_uid, @@server_id = (SELECT MAX(@@server_id)) FROM test_order",
		"SELECT @@port = 0, buyer_uid, @@sql_auto_is_null FROM test_order ORDER BY buyer_uid",
	}},
	{name: "one time", say: []string{
		"SELECT MAX(NOW(6)) = MIN(NOW(6)), MAX(UTC_TIME(6)) = MIN(UTC_TIME(6)) FROM test_order", "SELECT SUM(NOW(6) + 0) = MIN(NOW(6) + 0) * 120 FROM test_order",
		"SELECT NOW(6) - (SELECT NOW(6)), buyer_uid FROM test_order",
		"BEGIN", "SELECT MAX(NOW(6)) = MIN(NOW(6)) FROM test_order", "COMMIT", "SELECT @@timestamp > 1e9",
		"SET timestamp = 12", "SELECT NOW(), buyer_uid FROM test_order", "SELECT NOW(), COUNT(*) FROM test_order GROUP BY 1", "SET timestamp = DEFAULT", "SELECT NOW() > '2000-01-01', buyer_uid FROM test_order",
	}},
	{name: "UUID() is unique", say: []string{"SELECT COUNT(*) FROM (SELECT DISTINCT order_id, UUID() FROM test_order) d"}},
	{name: "numbers of rows", say: []string{"SELECT ROW_NUMBER() OVER (ORDER BY amount) n, amount FROM test_order", "SELECT RANK() OVER (ORDER BY buyer_uid), NTILE(7) OVER (ORDER BY amount) FROM test_order"}},
	{name: "a variable counts rows", refused: []string{"1102"}, say: []string{"SELECT @n := @n + 1, buyer_uid FROM test_order"}},
	{name: "LAST_INSERT_ID(value)", refused: []string{"1102"}, say: []string{"SELECT LAST_INSERT_ID(buyer_uid) FROM test_order"}},
	{name: "GET_LOCK", refused: []string{"1101"}, say: []string{"SELECT GET_LOCK('a', 0) FROM test_order"}},
}

// oneMariaDBs are functions that MySQL doesn't have.
var oneMariaDBs = []attack{
	{name: "ROWNUM()", refused: []string{"1102"}, say: []string{"SELECT COUNT(*) FROM test_order WHERE ROWNUM() < 5"}},
	{name: "ROWNUM of Oracle", mode: "ORACLE", refused: []string{"1102"}, say: []string{"SELECT COUNT(*) FROM test_order WHERE ROWNUM < 5"}},
	{name: "ROWNUM of Oracle as a column", mode: "ORACLE", refused: []string{"1102"}, say: []string{"SELECT ROWNUM, buyer_uid FROM test_order"}},
	{name: "ROWNUM of Oracle, one shard", mode: "ORACLE", say: []string{"SELECT ROWNUM, buyer_uid FROM test_order WHERE buyer_uid = 7"}},
	{name: "SYSDATE of Oracle in copies", mode: "ORACLE", refused: []string{"1003"}, say: []string{"UPDATE product SET name = SYSDATE"}},
	{name: "SYS_GUID() in copies", refused: []string{"1003"}, say: []string{"UPDATE product SET name = SYS_GUID()"}},
	{name: "SYS_GUID() is unique", say: []string{"SELECT COUNT(*) FROM (SELECT DISTINCT order_id, SYS_GUID() FROM test_order) d"}},
	{name: "a column called rownum", say: []string{"SELECT rownum FROM (SELECT buyer_uid rownum FROM test_order) d"}},
}

// fullText are queries by relevance.
var fullText = func() (list []attack) {
	for _, one := range []struct {
		say     string
		refused bool
	}{
		{"SELECT amount, MATCH (status) AGAINST ('rare') FROM test_order", true},
		{"SELECT amount FROM test_order WHERE (MATCH (status) AGAINST ('rare')) > 0.3", true},
		{"SELECT SUM(MATCH (status) AGAINST ('rare')) FROM test_order", true},
		{"SELECT buyer_uid, MAX(MATCH (status) AGAINST ('rare')) FROM test_order GROUP BY buyer_uid", true},
		{"SELECT amount FROM test_order ORDER BY MATCH (status) AGAINST ('rare') DESC LIMIT 5", true},
		{"SELECT amount FROM test_order WHERE MATCH (status) AGAINST ('rare') LIMIT 2", true},
		{"SELECT amount FROM test_order WHERE MATCH (status) AGAINST ('rare' WITH QUERY EXPANSION)", true},
		{"SELECT amount FROM test_order WHERE MATCH (status) AGAINST ('rare')", false},
		{"SELECT COUNT(*) FROM test_order WHERE NOT MATCH (status) AGAINST ('rare') OR amount < 3", false},
		{"SELECT amount FROM test_order WHERE MATCH (status) AGAINST ('+rare -never' IN BOOLEAN MODE) ORDER BY amount LIMIT 2", false},
		{"SELECT o.amount FROM test_order o JOIN order_item i ON i.order_id = o.order_id AND MATCH (o.status) AGAINST ('rare')", false},
	} {
		a := attack{
			name: one.say, everywhere: []string{"ALTER TABLE test_order ADD FULLTEXT KEY relevant (status)"}, clear: []string{"ALTER TABLE test_order DROP KEY relevant"},
			setup: []string{"UPDATE test_order SET status = IF(amount > 110, 'rare', 'usual') WHERE buyer_uid > 0"}, say: []string{one.say},
		}
		if one.refused {
			a.refused = []string{"1102"}
		}
		list = append(list, a)
	}
	return list
}()

// arguments are the arguments with which functions are tried.
var arguments = []string{
	"", "5", "'a'", "'2024-02-29 01:02:03'", "5, 2", "'a', 'b'", "'a', 2", "2, 'a'", "'a', 1, 1", "'a', 'b', 'c'", "1, 2, 3", "'2024-02-29', '2023-01-01'", "'2024-02-29', 3", "'2024-02-29', '%Y'",
	`'{"a": [1, 2]}'`, `'{"a": [1, 2]}', '$.a'`, `'{"a": [1, 2]}', '$.a', 3`, `'[1]', '[2]'`, `'{"a": [1, 2]}', 'one', '$.a'`, `'[1]', '$[0]', 7`, "1, 'a', 'b'", "'1.2.3.4'", "'::1'",
	"ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('POLYGON((0 0, 0 3, 3 3, 0 0))')", "ST_GeomFromText('LINESTRING(0 0, 1 1)')", "ST_GeomFromText('POINT(1 2)'), ST_GeomFromText('POINT(3 4)')",
	"ST_GeomFromText('POLYGON((0 0, 0 3, 3 3, 0 0))'), ST_GeomFromText('POINT(1 2)')", "'POINT(1 2)'", "1, 2, 3, 4", "'a', 1, 1, 'b'", "'6ccd780c-baba-1026-9564-5b8c656024db'", "UNHEX('6CCD780CBABA102695645B8C656024DB')",
	"'2024-02-29 01:02:03', '+00:00', '+02:00'", "DAY, 1, '2024-02-29'", "DAY, '2024-01-29', '2024-02-29'", "'2024-02-29', INTERVAL 1 DAY", "DAY FROM '2024-02-29'", "DATE, 'EUR'", "'a' USING latin1", "'a' IN 'ba'",
}

// Functions that are classified as depending on their arguments alone have equal results on two servers, and in all rows.
func TestFunctionsOfTheirArgumentsAlone(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		var both []*session
		for _, server := range servers.Shared(t, engine, 2)[:2] {
			both = append(both, login{server.Addr(), server.User, server.Password, ""}.open(t, "plain"))
		}
		tried := 0
		for _, name := range listedFunctions(t, both[0], engine) {
			if !stmt.OfArguments(name) {
				continue
			}
			for _, args := range arguments {
				text := fmt.Sprintf("SELECT %s(%s) r FROM (SELECT 1 UNION ALL SELECT 2) t", name, args)
				one := both[0].say(text)
				if one.err != nil {
					continue
				}
				tried++
				rows := one.results[0].rows
				if other := both[1].say(text); differ(one, other) != "" || rows[0] != rows[1] {
					t.Errorf("%s: %s: %s, and on another server %s", engine, text, one, other)
				}
			}
		}
		if tried < 500 {
			t.Errorf("%s: only %d calls were tried", engine, tried)
		}
	})
}

// listedFunctions returns the functions that a server lists.
func listedFunctions(t *testing.T, on *session, engine servers.Engine) []string {
	t.Helper()
	query := "SELECT LOWER(FUNCTION) FROM information_schema.SQL_FUNCTIONS"
	if engine == servers.MySQL {
		query = "SELECT LOWER(t.name) FROM mysql.help_topic t JOIN mysql.help_category c USING (help_category_id) WHERE t.name REGEXP '^[A-Za-z_0-9]+$' " +
			"AND c.name REGEXP 'Functions|Comparison Operators|GTID|Geometry Constructors|WKT|WKB|MBR'"
	}
	return namesIn(t, on, query)
}

// namesIn returns the names in the result of a query.
func namesIn(t *testing.T, on *session, query string) (names []string) {
	t.Helper()
	a := on.say(query)
	if a.err != nil {
		t.Fatal(a.err)
	}
	for _, name := range a.results[0].rows {
		names = append(names, strings.Trim(name, `"'`))
	}
	return names
}
