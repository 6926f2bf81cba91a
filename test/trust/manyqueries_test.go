package trust

import "locus/internal/test/scale"

// moreQueries returns the forms that the long scale tries in addition.
func moreQueries() []attack {
	if !scale.Long() {
		return nil
	}
	return append(append(assigning(assigningQueries...), filesOfQueries...), precedenceAttacks...)
}

// assigningQueries are all ways to do so.
var assigningQueries = []string{
	"SELECT 7 INTO @x", "SELECT 7 INTO @x FROM plain WHERE id = 1", "SELECT id INTO @x FROM plain ORDER BY id DESC LIMIT 1",
	"SELECT id FROM plain WHERE id = 2 INTO @x", "SELECT id FROM plain WHERE id = 2 INTO @X", "SELECT id FROM plain WHERE id = 2 INTO @`x`",
	"SELECT id FROM plain WHERE id = 2 INTO @'x'", "SELECT id FROM plain WHERE id = 2 INTO @\"x\"",
	"SELECT id, note FROM plain WHERE id = 2 INTO @y, @x", "SELECT id, note INTO @x, @y FROM plain WHERE id = 2",
	"SELECT id, note FROM plain WHERE id = 2 INTO /* a */ @y /* b */ , -- c\n @x # d\n",
	"SELECT id FROM plain WHERE id = 2 INTO @x FOR UPDATE", "SELECT id FROM plain WHERE id = 2 FOR UPDATE INTO @x",
	"SELECT id FROM plain WHERE id = 2 INTO @x LOCK IN SHARE MODE", "SELECT id FROM plain WHERE id = 2 LOCK IN SHARE MODE INTO @x",
	"SELECT id FROM plain WHERE id = 2 FOR SHARE INTO @x", "SELECT id FROM plain WHERE id = 2 FOR UPDATE NOWAIT INTO @x",
	"SELECT id FROM plain WHERE id = 2 LIMIT 1 INTO @x", "SELECT id FROM plain WHERE id = 2 GROUP BY id HAVING id > 1 INTO @x",
	"(SELECT id FROM plain WHERE id = 2 INTO @x)", "(SELECT id FROM plain WHERE id = 2) INTO @x", "((SELECT id FROM plain WHERE id = 2)) INTO @x",
	"(SELECT id INTO @x FROM plain WHERE id = 2)", "(SELECT id FROM plain) ORDER BY id LIMIT 1 INTO @x", "(SELECT id FROM plain ORDER BY id LIMIT 1 INTO @x)",
	"SELECT 1 UNION SELECT 1 INTO @x", "SELECT 1 UNION (SELECT 1) INTO @x", "SELECT 1 UNION (SELECT 1 INTO @x)", "SELECT 1 INTO @x UNION SELECT 1",
	"SELECT 1 UNION SELECT 1 INTO @x FROM dual", "(SELECT 1) UNION (SELECT 1) ORDER BY 1 LIMIT 1 INTO @x",
	"WITH c AS (SELECT 7 a) SELECT a FROM c INTO @x", "WITH c AS (SELECT 7 a) SELECT a INTO @x FROM c", "WITH c AS (SELECT 7 a INTO @x) SELECT a FROM c",
	"SELECT (SELECT 7 INTO @x)", "SELECT * FROM (SELECT 7 INTO @x) d", "SELECT 7 INTO x", "SELECT 7 INTO @@x", "SELECT 7 INTO @x, x",
	"VALUES ROW(7) INTO @x", "VALUES (7) INTO @x", "VALUES ROW(7, 8) INTO @x, @y", "(VALUES ROW(7)) INTO @x", "VALUES ROW(7) UNION VALUES ROW(7) INTO @x",
	"VALUES ROW(7) ORDER BY 1 LIMIT 1 INTO @x", "(VALUES ROW(7) INTO @x)",
	"TABLE secret INTO @x, @y", "TABLE plain ORDER BY id LIMIT 1 INTO @x, @y", "(TABLE secret) INTO @x, @y", "(TABLE secret INTO @x, @y)", "TABLE secret FOR UPDATE INTO @x, @y",
	"TABLE secret INTO @x, @y FOR UPDATE", "WITH c AS (SELECT 7 a) TABLE c INTO @x",
	"SELECT @x := c FROM (VALUES ROW(4)) v(c)", "SELECT @x := c FROM (VALUES ROW(4), ROW(4)) v(c)", "SELECT @x := 1 c FROM (VALUES (4)) v",
	"SELECT @x := a FROM (TABLE secret) t", "SELECT EXISTS (TABLE plain), @x := 9", "VALUES ROW(@x := 7)", "VALUES (@x := 7)",
	"SELECT COUNT(*) FROM test_order INTO @x", "SELECT COUNT(*) INTO @x FROM test_order", "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 5 INTO @x",
	"SELECT COUNT(*) INTO @x FROM test_order WHERE buyer_uid = 5", "SELECT amount FROM test_order WHERE buyer_uid = 5 ORDER BY amount LIMIT 1 INTO @x",
	"SELECT amount FROM test_order WHERE buyer_uid = 5 ORDER BY amount LIMIT 1 FOR UPDATE INTO @x", "SELECT amount INTO @x FROM test_order ORDER BY amount LIMIT 1",
	"(SELECT COUNT(*) FROM test_order) INTO @x", "SELECT COUNT(*) FROM test_order UNION SELECT COUNT(*) FROM test_order INTO @x",
	"SELECT COUNT(*) FROM test_order WHERE buyer_uid = 5 UNION SELECT COUNT(*) FROM test_order WHERE buyer_uid = 5 INTO @x",
	"WITH c AS (SELECT COUNT(*) a FROM test_order WHERE buyer_uid = 5) SELECT a FROM c INTO @x", "TABLE test_order INTO @x", "VALUES ROW((SELECT COUNT(*) FROM test_order)) INTO @x",
	"SELECT COUNT(*) FROM product INTO @x", "SELECT MAX(`into`) INTO @x FROM (SELECT 5 `into`) t", "SELECT t.into FROM (SELECT 5 `into`) t INTO @x",
	"SELECT 'INTO @y' INTO @x", "SELECT 7 /* INTO @y */ INTO @x", "SELECT 7 INTO@x", "SELECT 7 INTO @x;", "SELECT 7 INTO @x ; -- y",
	"SELECT 7 INTO @x$1, @x", "SELECT 7, 8 INTO @a.b, @x", "SELECT 7 INTO @`a``b`", "SELECT 7 INTO @x, @x", "SELECT 7, 8 INTO @x, @x", "SELECT 7 INTO @ä",
	"SELECT @ FROM plain WHERE id = 1", "SELECT 7 INTO @", "SELECT @x := c FROM JSON_TABLE('[4]', '$[*]' COLUMNS (c INT PATH '$')) j",
	"SELECT @`x` := c FROM JSON_TABLE('[4]', '$[*]' COLUMNS (c INT PATH '$')) j", "SELECT @'x' := c FROM JSON_TABLE('[4]', '$[*]' COLUMNS (c INT PATH '$')) j",
	"SELECT c FROM JSON_TABLE('[4]', '$[*]' COLUMNS (c INT PATH '$')) j INTO @x", "SELECT @x := COUNT(*) OVER () FROM plain LIMIT 1", "DO @x := 8", "SET @y = (@x := 8)",
	"UPDATE plain SET note = (@x := 'n') WHERE id = 1", "DELETE FROM plain WHERE id = (@x := 1)", "INSERT INTO plain VALUES (11, @x := 'n')",
	"INSERT INTO plain VALUES (1, 'z') ON DUPLICATE KEY UPDATE note = (@x := 'n')", "EXPLAIN FORMAT=JSON INTO @x SELECT 1",
	"ANALYZE SELECT @x := 8", "DELETE FROM plain WHERE id = 1 RETURNING @x := 8", "INSERT INTO plain VALUES (12, 'n') RETURNING @x := id", "EXECUTE IMMEDIATE 'SELECT 7 INTO @x'",
	"EXECUTE IMMEDIATE 'SELECT ? INTO @x' USING 7", "PREPARE p FROM 'VALUES ROW(7) INTO @x'; EXECUTE p", "PREPARE p FROM 'VALUES (7) INTO @x'; EXECUTE p", "BEGIN NOT ATOMIC SELECT 7 INTO @x; END",
	"SELECT 1 LIMIT 1 PROCEDURE ANALYSE()", "HANDLER plain OPEN", "SHOW TABLES WHERE (@x := 8)", "SELECT id FROM plain ORDER BY @x := id LIMIT 1", "SELECT 7 INTO /*!50000 @x */",
	"SELECT /*+ MAX_EXECUTION_TIME(1000) */ 7 INTO @x", "SELECT 7 INTO /*+ x */ @x", "SELECT (SELECT 7) INTO @x", "SELECT id IN (SELECT 7) FROM plain LIMIT 1 INTO @x",
	"INSERT INTO plain SELECT 9, 'x' INTO @x", "DO (SELECT 7 INTO @x)", "EXPLAIN SELECT 7 INTO @x", "SELECT 7 INTO @x PROCEDURE ANALYSE()",
	"SELECT 1 FROM plain WHERE id = 99 INTO @x", "SELECT id FROM plain INTO @x",
}

// filesOfQueries would write a server's files.
var filesOfQueries = func() (list []attack) {
	for _, text := range []string{
		"SELECT 7 INTO OUTFILE '/tmp/locus_x'", "SELECT 7 INTO DUMPFILE '/tmp/locus_x'", "SELECT * INTO OUTFILE '/tmp/locus_x' FROM plain",
		"(SELECT 7 INTO OUTFILE '/tmp/locus_x')", "(SELECT 7) INTO OUTFILE '/tmp/locus_x'", "SELECT 1 UNION SELECT 2 INTO OUTFILE '/tmp/locus_x'",
		"SELECT 1 UNION (SELECT 2 INTO DUMPFILE '/tmp/locus_x')", "TABLE plain INTO OUTFILE '/tmp/locus_x'", "TABLE plain INTO DUMPFILE '/tmp/locus_x'",
		"VALUES ROW(1) INTO OUTFILE '/tmp/locus_x'", "VALUES (1) INTO OUTFILE '/tmp/locus_x'", "WITH c AS (SELECT 1) SELECT * FROM c INTO OUTFILE '/tmp/locus_x'",
		"SELECT id FROM plain INTO OUTFILE '/tmp/locus_x' FOR UPDATE", "SELECT id FROM plain FOR UPDATE INTO OUTFILE '/tmp/locus_x'",
		"SELECT id FROM plain INTO /* y */ OUTFILE '/tmp/locus_x' CHARACTER SET utf8mb4 FIELDS TERMINATED BY ','", "EXPLAIN SELECT 7 INTO OUTFILE '/tmp/locus_x'",
		"INSERT INTO plain SELECT 9, 'x' INTO OUTFILE '/tmp/locus_x'", "SELECT 7 INTO/**/outfile'/tmp/locus_x'", "SELECT 7 INTO /*!50000 OUTFILE */ '/tmp/locus_x'",
		"SELECT COUNT(*) FROM test_order INTO OUTFILE '/tmp/locus_x'", "SELECT 1 FROM (SELECT 7 INTO OUTFILE '/tmp/locus_x') d",
	} {
		list = append(list, attack{name: text, say: []string{text}, refused: []string{"1008", "1003", "1001"}, maybe: []uint16{1064}})
	}
	return list
}()

// precedenceAttacks are statements whose meaning depends on sql_mode.
var precedenceAttacks = func() (list []attack) {
	for _, where := range []string{
		"NOT buyer_uid = 5", "buyer_uid = NOT 0", "NOT buyer_uid IN (0, 1)", "NOT amount > 20 AND buyer_uid = 1", "NOT NOT buyer_uid = 1", "buyer_uid IN (NOT 0, NOT 0)",
	} {
		list = append(list, attack{name: where, mode: "HIGH_NOT_PRECEDENCE", say: []string{
			"SELECT COUNT(*), MIN(buyer_uid), MAX(buyer_uid) FROM test_order WHERE " + where,
			"UPDATE test_order SET status = 'read' WHERE " + where,
			"SELECT COUNT(DISTINCT buyer_uid), NOT 1 = 2 FROM test_order a WHERE EXISTS (SELECT 1 FROM plain WHERE " + where + ")",
		}, look: []string{"SELECT buyer_uid, status FROM test_order WHERE status = 'read'"}})
	}
	return list
}()
