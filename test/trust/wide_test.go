package trust

import "testing"

// results are character sets of answers: those whose units have two or four bytes, those whose letters have bytes of ASCII, and what
// leaves texts as they are.
var results = []string{"ucs2", "utf16", "utf16le", "utf32", "'UTF16'", "latin1", "gbk", "sjis", "binary", "NULL"}

// readInAnyCharset are statements whose answers the proxy makes from what shards send, or by itself.
var readInAnyCharset = []string{
	"SELECT COUNT(*) FROM test_order",
	"SELECT COUNT(*), COUNT(status) c, SUM(amount), SUM(buyer_uid), SUM(amount * 1e0) d, MIN(buyer_uid), MAX(created_at) > '2000-01-01' FROM test_order",
	"SELECT AVG(amount), AVG(buyer_uid), AVG(amount * 1e0) FROM test_order",
	"SELECT SUM(amount), AVG(amount), MIN(amount) FROM test_order WHERE amount < 0",
	"SELECT MAX(amount), MIN(amount * 1e0), MAX(CAST('2024-01-02' AS DATE)), MIN(TIME('-1:02:03')) FROM test_order",
	"SELECT buyer_uid, amount, status, amount * 1e0 FROM test_order ORDER BY buyer_uid, amount LIMIT 5",
	"SELECT buyer_uid FROM test_order ORDER BY amount DESC LIMIT 2, 3",
	"SELECT buyer_uid, CAST('2024-01-01' AS DATE) + INTERVAL buyer_uid DAY d FROM test_order ORDER BY 2, amount LIMIT 7",
	"SELECT amount, SEC_TO_TIME(buyer_uid * 100 - 700) s FROM test_order ORDER BY s, amount LIMIT 9",
	"SELECT CONCAT('ä€', buyer_uid) n, X'00ff41' b FROM test_order ORDER BY n, amount LIMIT 9",
	"SELECT amount * 1e0 n FROM test_order ORDER BY n DESC LIMIT 5",
	"SELECT status, COUNT(*), MAX(buyer_uid), '中😀' FROM test_order GROUP BY status",
	"SELECT buyer_uid, SUM(amount), MIN(status) FROM test_order GROUP BY buyer_uid ORDER BY buyer_uid LIMIT 4",
	"SELECT COUNT(DISTINCT amount), COUNT(DISTINCT status) FROM test_order",
	"SELECT MAX(status), MIN(CONCAT(status, 'é')) FROM test_order",
	"SELECT DISTINCT status FROM test_order", "SELECT GROUP_CONCAT(DISTINCT status) FROM test_order",
	"SELECT COUNT(*) FROM test_order o JOIN order_item i ON i.product_id = o.buyer_uid AND i.price < o.amount",
	"SELECT o.created_at > '2000-01-01' c, i.price, i.quantity FROM test_order o, order_item i WHERE i.product_id = o.buyer_uid + 0 AND o.amount < 3 ORDER BY o.amount, i.order_id LIMIT 3",
	"SELECT * FROM product ORDER BY product_id LIMIT 2",
	"SELECT status FROM test_order WHERE buyer_uid = 7 LIMIT 1",
	"SELECT name, NULL, 1.5, X'41', CAST('2020-01-01' AS DATE), b'101', 2e0, JSON_OBJECT('ä', 1) FROM product ORDER BY product_id LIMIT 2",
	"SELECT 'ä' + 1", "SELECT @@character_set_results r, CONNECTION_ID() > 1, FOUND_ROWS(), ROW_COUNT()",
	"SELECT @u := 'ä€', @v := 5", "SELECT @u, @v, CHARSET(@u)",
	"SHOW DATABASES LIKE 'mysql'",
	"SHOW CREATE TABLE setting", "EXPLAIN SELECT 1",
	"INSERT INTO product VALUES (1, 'x', 1), (2, 'ä', 3) ON DUPLICATE KEY UPDATE price = price",
	"INSERT INTO test_order (buyer_uid, amount) VALUES (1, 1), (2, 2), (3, 3)",
	"UPDATE product SET name = 'x' WHERE product_id = 1", "DELETE FROM test_order WHERE amount = 3 AND status = 'new'",
	"UPDATE test_order SET status = 'ü' WHERE amount = 2 AND status = 'new'", "SELECT buyer_uid, HEX(status) FROM test_order WHERE amount = 2 ORDER BY 2, 1",
	"SELECT FOUND_ROWS()", "SELECT GET_LOCK('é', 0)", "SELECT IS_USED_LOCK('é') = CONNECTION_ID(), IS_FREE_LOCK('é')", "SELECT RELEASE_LOCK('é')",
	"CHECK TABLE product",
}

// inTexts are statements that a client doesn't prepare.
var inTexts = []string{
	"SELECT 'ä' + 1", "SHOW WARNINGS", "SHOW COUNT(*) WARNINGS", "SHOW WARNINGS LIMIT 1",
	"INSERT IGNORE INTO product VALUES (1, 'x', 1)", "SHOW WARNINGS",
	"SHOW VARIABLES LIKE 'autocommit'", "SHOW VARIABLES LIKE 'character_set_results'", "SHOW SESSION STATUS LIKE 'ssl_version'", "XA RECOVER",
	"SHOW COLUMNS FROM setting LIKE 'n%'", "SELECT table_name AS t FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'p%' ORDER BY 1",
	"SELECT column_name AS c FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'test_order' AND column_name LIKE '%u%' ORDER BY 1",
	"BEGIN", "SELECT COUNT(*) FROM test_order", "UPDATE test_order SET amount = 4 WHERE amount = 2", "SELECT SUM(amount) FROM test_order", "SAVEPOINT a", "ROLLBACK TO a", "ROLLBACK",
	"PREPARE p FROM 'SELECT COUNT(*), ? AS b FROM test_order'", "SET @a = 'ß'", "EXECUTE p USING @a",
}

// Answers are a server's, in whatever character set the client reads them.
func TestAnswersInEveryCharacterSet(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		for _, charset := range results {
			if s.proxied(t, "app").say("SET character_set_results = "+charset).err != nil {
				t.Fatalf("%s is refused", charset)
			}
			x := exchange{name: charset + ", text", values: true, before: []string{"SET character_set_results = " + charset}, say: append(readInAnyCharset, inTexts...)}
			s.exchanged(t, x)
			x.name, x.ready, x.say = charset+", prepared", true, readInAnyCharset
			s.exchanged(t, x)
		}
		s.restore(t)
	})
}
