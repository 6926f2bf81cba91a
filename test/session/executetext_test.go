package session

import (
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// EXECUTE of a text on undeclared tables is executed by the server.
func TestExecuteOfTexts(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"CREATE TABLE e (id INT PRIMARY KEY, v VARCHAR(30), d DATE)", "SET @id = 1, @v = 'it''s \\\\', @d = '2001-02-03', @n = NULL, @f = 1e30, @dec = 1.50",
			"PREPARE i FROM 'INSERT INTO e VALUES (?, ?, ?)'", "EXECUTE i USING @id, @v, @d", "SELECT ROW_COUNT()", "SELECT * FROM e", "EXECUTE i USING @id, @v, @d", "SHOW WARNINGS",
			"PREPARE q FROM 'SELECT ?, CONCAT(?), ? + 1, LEFT(111, ?)'", "EXECUTE q USING @id, @v, @dec, @f", "EXECUTE q USING @n, @n, @n, @n", "EXECUTE q USING @id",
			"PREPARE l FROM 'SELECT id FROM e LIMIT ?'", "EXECUTE l USING @id", "EXECUTE l USING @v",
			"PREPARE c FROM 'CREATE TABLE e2 AS SELECT ? AS a, ? AS b'", "EXECUTE c USING @dec, @v", "SHOW CREATE TABLE e2",
			"PREPARE s FROM 'SELECT ''it''''s \"x\" \\\\ y'', ?'", "EXECUTE s USING @v", "SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "PREPARE s FROM 'SELECT ''a\\b'', ?'", "EXECUTE s USING @v", "SET sql_mode = DEFAULT",
			"CREATE PROCEDURE o(OUT a INT) SET a = 7", "PREPARE o FROM 'CALL o(?)'", "SET @out = 0", "EXECUTE o USING @out", "SELECT @out",
			"PREPARE u FROM 'SELECT ? INTO @got'", "EXECUTE u USING @v", "SELECT @got",
			"BEGIN", "SET @id = 2", "EXECUTE i USING @id, @v, @d", "ROLLBACK", "SELECT id FROM e",
			"PREPARE w FROM 'SELECT * FROM e WHERE CONNECTION_ID() > ? AND id = 1'", "EXECUTE w USING @n", "DEALLOCATE PREPARE w", "EXECUTE w USING @n",
		)
		if p.engine == servers.MariaDB {
			p.alike(t, "EXECUTE i USING 3, CONCAT('a', 'b'), DEFAULT", "SELECT * FROM e", "EXECUTE IMMEDIATE 'SELECT ST_ASTEXT(?)' USING POINT(1, 2)")
		}
	})
}

// A shard that refuses its first statement of a transaction does not join the transaction.
func TestATransactionWhoseFirstStatementIsRefused(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t, "CREATE TABLE gone (id INT)", "CREATE TABLE kept (id INT)", "SET @a = 1", "PREPARE g FROM 'SELECT * FROM gone WHERE id = ?'")
		open(t, "another", p.shop.DB(t, nil)).must(t, "DROP TABLE gone")
		p.plain.must(t, "DROP TABLE gone")
		p.alike(t, "BEGIN", "EXECUTE g USING @a", "INSERT INTO kept VALUES (1)", "ROLLBACK", "SELECT * FROM kept")
	})
}
