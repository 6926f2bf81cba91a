package session

import (
	"database/sql/driver"
	"strings"
	"testing"

	"locus/proxy/txn"
	"locus/test/shop"
)

func TestUserVariables(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"CREATE TABLE n (id INT PRIMARY KEY, name VARCHAR(20) CHARACTER SET latin1, g GEOMETRY)",
			"INSERT INTO n (id, name) VALUES (1, 'ä'), (2, 'b'), (3, 'c')",
			"SET @r = 0",
			"SELECT id, @r := @r + 1 AS r FROM n ORDER BY id",
			"SELECT @r",
			"SELECT COUNT(*), MAX(name) FROM n INTO @count, @`most`",
			"SELECT @count, @most, CHARSET(@most), COLLATION(@most)",
			"SELECT name FROM n WHERE id = 1 INTO @name",
			"SELECT @name, HEX(@name), CHARSET(@name)",
			"SELECT 5 INTO @f FROM n WHERE id = 9",
			"SELECT @f",
			"SELECT id INTO @many FROM n",
			"SELECT 1e0 / 3, 1.5, 18446744073709551615, NULL, x'00ff' INTO @d, @dec, @u, @nil, @bin",
			"SELECT @d, @d * 3, @dec, @u, @nil, HEX(@bin), CHARSET(@bin)",
			"SET @g = POINT(1, 2), @e = 1e0 / 3, @s = CONCAT('x', 'ß')",
			"SELECT ST_ASTEXT(@g), @e * 3 = 1, @s, COLLATION(@s)",
			"SET @x = 1",
			"UPDATE n SET id = id + (@x := @x + 1) WHERE id = 3",
			"SELECT @x, id FROM n ORDER BY id",
			"CREATE PROCEDURE fill(OUT a INT) BEGIN SET a = 7, @inner = 'in'; CREATE TEMPORARY TABLE IF NOT EXISTS made (id INT); INSERT INTO made VALUES (5); END",
			"CALL fill(@out)",
			"SELECT @out, @inner",
			"SELECT * FROM made",
			"CREATE FUNCTION note(v INT) RETURNS INT DETERMINISTIC BEGIN SET @noted = v; RETURN v; END",
			"SELECT note(8)",
			"SELECT @noted",
			"SET @l = _latin1'abc', @x = _latin1 'A\xdf\xb2', @two = 'a' '\xc3\xa4', @n = N'abc'",
			"SELECT CHARSET(@l), COLLATION(@l), HEX(@x), CHARSET(@x), HEX(@two), CHARSET(@n)",
			"SET @a = 5, @b = @a",
			"SELECT @a, @b",
		)
		if got := p.proxy.say("SELECT * FROM test_order WHERE buyer_uid = 5 AND amount > @a"); strings.HasPrefix(got, "error") {
			t.Errorf("a variable in a sharded statement: %s", got)
		}
		if got := p.proxy.say("SELECT COUNT(*) INTO @orders FROM test_order WHERE buyer_uid = 5"); got != "" {
			t.Errorf("INTO from a sharded table: %s", got)
		}
		if got := p.proxy.value(t, "SELECT @orders"); got != "0" {
			t.Errorf("orders: %s", got)
		}
		if got := p.proxy.say("SELECT COUNT(*) + 3 INTO @orders FROM test_order"); got != "" {
			t.Errorf("INTO from several shards: %s", got)
		}
		if got := p.proxy.value(t, "SELECT @orders"); got != "3" {
			t.Errorf("orders of several shards: %s", got)
		}
		if got := p.proxy.say("SELECT @orders := COUNT(*) FROM test_order"); got != "error 1235 (42000)" {
			t.Errorf("an assignment within a query of several shards: %s", got)
		}
	})
}

func TestCountsOfTheSession(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"CREATE TABLE c (id INT PRIMARY KEY, v INT)",
			"SELECT ROW_COUNT()",
			"INSERT INTO c VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
			"SELECT ROW_COUNT()",
			"SELECT ROW_COUNT() AS after, FOUND_ROWS()",
			"UPDATE c SET v = 9 WHERE id > 2",
			"SELECT row_count ( ) + 0",
			"SELECT SQL_CALC_FOUND_ROWS id FROM c ORDER BY id LIMIT 2",
			"SELECT FOUND_ROWS()",
			"SELECT id FROM c WHERE id > 1",
			"SELECT found_rows() `n`, 'found_rows()'",
			"INSERT INTO c VALUES (1, 1)",
			"SELECT ROW_COUNT()",
			"DELETE FROM c",
			"SELECT ROW_COUNT()",
			"SET @n = ROW_COUNT()",
			"SELECT @n",
			"INSERT INTO c VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
		)
		p.alike(t, "INSERT IGNORE INTO c SELECT id, 5 FROM c WHERE id < 3", "SHOW WARNINGS", "SELECT FOUND_ROWS()")
		for _, statement := range []string{
			"SELECT id FROM c LIMIT 2, 1", "SELECT id FROM c ORDER BY id LIMIT 1 OFFSET 2", "SELECT id FROM c LIMIT 9, 1", "SELECT id FROM c LIMIT 0", "SELECT SQL_CALC_FOUND_ROWS id FROM c LIMIT 9, 1",
			"SELECT SQL_CALC_FOUND_ROWS 'foo' UNION SELECT 'bar' LIMIT 0",
			"SHOW WARNINGS", "SELECT id INTO @x FROM c WHERE id = 2", "SELECT id INTO @x FROM c WHERE id = 22", "SELECT id FROM c WHERE id = 22",
			"(SELECT id FROM c) UNION (SELECT 9) LIMIT 2", "CREATE TABLE copied SELECT * FROM c", "INSERT INTO copied SELECT * FROM c WHERE id < 4",
			"SHOW COUNT(*) WARNINGS", "HANDLER c OPEN", "HANDLER c READ FIRST LIMIT 2", "HANDLER c CLOSE", "SHOW CREATE TABLE c", "DROP TABLE copied",
		} {
			for _, count := range []string{"FOUND_ROWS()", "ROW_COUNT()"} {
				p.alike(t, "SELECT * FROM c LIMIT 3", statement, "SELECT "+count)
			}
		}
		p.proxy.must(t, "INSERT INTO test_order (buyer_uid, amount) VALUES (1, 1), (2, 2), (3, 3), (4, 4)")
		if got := p.proxy.value(t, "SELECT ROW_COUNT()"); got != "4" {
			t.Errorf("rows of an insert for several shards: %s", got)
		}
		p.proxy.say("SELECT order_id FROM test_order ORDER BY order_id LIMIT 3")
		if got := p.proxy.value(t, "SELECT FOUND_ROWS()"); got != "3" {
			t.Errorf("found rows of several shards: %s", got)
		}
		p.proxy.say("SELECT order_id FROM test_order ORDER BY order_id LIMIT 2, 1")
		if got := p.proxy.value(t, "SELECT FOUND_ROWS()"); got != "3" {
			t.Errorf("found rows of several shards, two of them left out: %s", got)
		}
		id := p.proxy.value(t, "SELECT LAST_INSERT_ID()")
		for _, spelling := range []string{"last_insert_id( )", "LAST_INSERT_ID() AS id", "@@last_insert_id", "@@session.last_insert_id", "@@identity"} {
			if got := p.proxy.value(t, "SELECT "+spelling); got != id {
				t.Errorf("%s: %s, want %s", spelling, got, id)
			}
		}
		p.proxy.must(t, "SET @id = LAST_INSERT_ID()")
		if got := p.proxy.value(t, "SELECT @id"); got != id {
			t.Errorf("SET @id: %s, want %s", got, id)
		}
	})
}

func TestTextPrepare(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"CREATE TABLE tp (id INT PRIMARY KEY, name VARCHAR(20))",
			"PREPARE ins FROM 'INSERT INTO tp VALUES (?, ?)'",
			"SET @i = 1, @n = 'it''s \\\\ ü'",
			"EXECUTE ins USING @i, @n",
			"SET @i = 2, @n = NULL",
			"EXECUTE ins USING @i, @n",
			"EXECUTE ins",
			"EXECUTE ins USING @i, @never",
			"SET @q = 'SELECT * FROM tp WHERE id <= ? ORDER BY id LIMIT ?', @one = 1",
			"PREPARE Sel FROM @q",
			"EXECUTE sel USING @i, @one",
			"EXECUTE nothing",
			"PREPARE bad FROM 'SELEC'",
			"PREPARE bad FROM 'SELECT * FROM no_such_table'",
			"EXECUTE bad",
			"DEALLOCATE PREPARE sel",
			"EXECUTE sel USING @i, @one",
			"DROP PREPARE ins",
			"DEALLOCATE PREPARE ins",
			"PREPARE s FROM 'SET @z = 5'",
			"EXECUTE s",
			"SELECT @z",
			"PREPARE c FROM 'SELECT ROW_COUNT()'",
			"EXECUTE c",
		)
		p.alike(t,
			"EXECUTE IMMEDIATE 'SELECT 1 AS one'",
			"EXECUTE IMMEDIATE CONCAT('SELECT name, ? AS q', ' FROM tp WHERE id = ?') USING 'its', 1 + 0",
			"SET @statement = 'SELECT ? + 1 AS sum', @five = 5",
			"EXECUTE IMMEDIATE @statement USING @five",
			"EXECUTE IMMEDIATE CONVERT('SELECT 2 AS two' USING ucs2)",
			"EXECUTE IMMEDIATE 'SELECT ?'",
			"EXECUTE IMMEDIATE 'SELECT ?' USING 1, 2",
			"EXECUTE IMMEDIATE 'SELECT * FROM no_such_table'",
			"EXECUTE IMMEDIATE NULL",
			"EXECUTE IMMEDIATE 'EXECUTE IMMEDIATE @statement'",
			"SET @self = 'EXECUTE IMMEDIATE @self'",
			"EXECUTE IMMEDIATE @self",
			"PREPARE computed FROM CONCAT('SELECT ? AS', ' p')",
			"EXECUTE computed USING 2 * 3",
			"EXECUTE computed USING @five",
		)
		p.proxy.must(t, "PREPARE o FROM 'INSERT INTO test_order (buyer_uid, amount) VALUES (?, ?)'")
		for _, buyer := range []string{"1", "2", "3", "4", "5", "6"} {
			p.proxy.must(t, "SET @buyer = "+buyer+", @amount = 1.5")
			p.proxy.must(t, "EXECUTE o USING @buyer, @amount")
		}
		p.proxy.must(t, "PREPARE s FROM 'SELECT COUNT(*), SUM(amount) FROM test_order WHERE buyer_uid >= ?'")
		p.proxy.must(t, "SET @buyer = 2")
		if got := p.proxy.say("EXECUTE s USING @buyer"); !strings.HasSuffix(got, "\n5|7.50") {
			t.Errorf("sharded: %s", got)
		}
	})
}

func TestTemporaryTables(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		other := open(t, "another", p.shop.DB(t, nil))
		p.alike(t,
			"CREATE TEMPORARY TABLE tt (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
			"INSERT INTO tt (v) VALUES (5), (6)",
			"SELECT * FROM tt ORDER BY id",
			"BEGIN",
			"INSERT INTO tt (v) VALUES (7)",
			"ROLLBACK",
			"SELECT * FROM tt ORDER BY id",
			"SET sql_mode = ''",
			"SET NAMES latin1",
			"SET NAMES utf8mb4",
			"SELECT COUNT(*) FROM tt",
		)
		if got := other.say("SELECT * FROM tt"); !strings.HasPrefix(got, "error 1146") {
			t.Errorf("another session sees %s", got)
		}
		if got := other.say("SELECT State FROM information_schema.processlist p WHERE State <> ''"); !strings.HasSuffix(got, "\npinned: temporary table") {
			t.Errorf("the process list says %s", got)
		}
		p.alike(t, "DROP TEMPORARY TABLE tt", "SELECT * FROM tt")
		if got := other.say("SELECT State FROM information_schema.processlist p WHERE State <> ''"); strings.Contains(got, "pinned") {
			t.Errorf("the process list says %s", got)
		}
		if got := p.proxy.say("CREATE TEMPORARY TABLE test_order (id INT)"); got != "error 1235 (42000)" {
			t.Errorf("a declared table's name: %s", got)
		}
		p.alike(t, "CREATE TEMPORARY TABLE tt2 AS SELECT 1 AS one", "SELECT * FROM tt2")
	})
}

// Comments around the words of a statement don't change the state that it leaves.
func TestTemporaryTablesBehindComments(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		other := open(t, "another", p.shop.DB(t, nil))
		for _, make := range []string{
			"/* app=web */ CREATE TEMPORARY TABLE tt (x INT)", "CREATE/* a */TEMPORARY -- b\n TABLE # c\n tt (x INT)",
			"\n\t CREATE  TEMPORARY\tTABLE IF NOT EXISTS `tt` (x INT);", "-- app\nCREATE TEMPORARY TABLE tt SELECT 1 AS x",
		} {
			p.alike(t, make, "SELECT * FROM tt")
			if got := other.say("SELECT * FROM tt"); !strings.HasPrefix(got, "error 1146") {
				t.Errorf("%s: another session sees %s", make, got)
			}
			p.alike(t, "/* app */ DROP /* b */ TABLE -- c\n tt", "SELECT * FROM tt")
		}
		p.alike(t, "CREATE TEMPORARY TABLE tt (x INT)", "ALTER TABLE tt RENAME TO uu", "CREATE TABLE tt (y INT)", "DROP TABLE tt", "SELECT * FROM uu")
	})
}

func TestNamedLocks(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		other := open(t, "another", p.shop.DB(t, nil))
		p.alike(t,
			"SELECT GET_LOCK('a', 1)",
			"SELECT IS_USED_LOCK('a') = CONNECTION_ID(), is_used_lock ( 'nobody''s' ) AS none",
			"SELECT IS_USED_LOCK(CONCAT('a', '')) IS NULL, IS_USED_LOCK(_utf8mb4'a') IS NULL",
			"SELECT IS_FREE_LOCK('a'), IS_USED_LOCK('a') IS NULL",
			"SELECT 1",
			"SELECT GET_LOCK('b', 0) AS b",
			"SELECT RELEASE_LOCK('a')",
			"SELECT RELEASE_LOCK('a')",
			"SELECT RELEASE_LOCK('never')",
		)
		if got := other.value(t, "SELECT GET_LOCK('b', 0)"); got != "0" {
			t.Errorf("two sessions have the lock: %s", got)
		}
		if got := other.value(t, "SELECT GET_LOCK(?, 0)", "a"); got != "1" {
			t.Errorf("a lock that was let go: %s", got)
		}
		other.must(t, "DO 1") // the proxy completes the work after an answer before the next statement
		now, _ := p.shop.Proxy.Status().Counts.Reserved(txn.NamedLock)
		if now != 2 {
			t.Errorf("%d sessions pinned for named locks, want 2", now)
		}
		p.alike(t, "BEGIN", "SELECT RELEASE_ALL_LOCKS()", "COMMIT", "SELECT IS_FREE_LOCK('b')")
		if now, total := p.shop.Proxy.Status().Counts.Reserved(txn.NamedLock); now != 1 || total != 2 {
			t.Errorf("%d sessions pinned for named locks and %d before, want 1 and 2", now, total)
		}
		p.proxy.must(t, "SELECT GET_LOCK('c', 0)")
		if err := p.proxy.conn.Raw(func(any) error { return driver.ErrBadConn }); err == nil { // closes it
			t.Fatal("the connection is still there")
		}
		if got := other.value(t, "SELECT GET_LOCK('c', 20)"); got != "1" {
			t.Errorf("a lock of a session that has gone: %s", got)
		}
	})
}

func TestLockTables(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		other := open(t, "another", p.shop.DB(t, nil))
		p.alike(t,
			"CREATE TABLE l1 (id INT PRIMARY KEY)", "CREATE TABLE l2 (id INT PRIMARY KEY)",
			"LOCK TABLES l1 READ, l2 WRITE",
			"INSERT INTO l2 VALUES (1)",
			"INSERT INTO l1 VALUES (1)",
			"SELECT * FROM l1",
			"UNLOCK TABLES",
			"INSERT INTO l1 VALUES (1)",
			"LOCK TABLES l1 AS a READ",
			"SELECT * FROM l1 AS a",
			"SELECT * FROM l2",
			"BEGIN",
			"SELECT * FROM l2",
			"COMMIT",
			"LOCK TABLES no_such_table READ",
			"SELECT * FROM l2",
		)
		c := p.proxy
		c.must(t, "LOCK TABLES test_order WRITE, l1 READ /*!32311 LOCAL */")
		c.must(t, "INSERT INTO test_order (buyer_uid, amount) VALUES (1, 1), (2, 2), (3, 3), (4, 4)")
		if got := c.value(t, "SELECT COUNT(*) FROM test_order"); got != "4" {
			t.Errorf("rows: %s", got)
		}
		c.must(t, "SELECT * FROM l1")
		if got := c.say("SELECT * FROM l2"); !strings.HasPrefix(got, "error 1100") {
			t.Errorf("a table that is not locked: %s", got)
		}
		other.must(t, "SET SESSION lock_wait_timeout = 1")
		for _, buyer := range []string{"1", "2", "3", "4"} {
			if got := other.say("UPDATE test_order SET amount = 0 WHERE buyer_uid = " + buyer); !strings.HasPrefix(got, "error 1205") {
				t.Errorf("buyer %s: %s", buyer, got)
			}
		}
		c.must(t, "UNLOCK TABLES")
		other.must(t, "UPDATE test_order SET amount = 0 WHERE buyer_uid = 1")
		if now, _ := p.shop.Proxy.Status().Counts.Reserved(txn.LockedTables); now != 0 {
			t.Errorf("%d connections pinned for locks, want none", now)
		}
	})
}

func TestHandlers(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"CREATE TABLE h (id INT PRIMARY KEY)", "INSERT INTO h VALUES (1), (2), (3)",
			"HANDLER h OPEN AS x", "HANDLER x READ FIRST", "SELECT COUNT(*) FROM h", "HANDLER x READ NEXT LIMIT 5", "HANDLER x CLOSE", "HANDLER x READ FIRST",
		)
		if now, total := p.shop.Proxy.Status().Counts.Reserved(txn.Handler); now != 0 || total != 1 {
			t.Errorf("%d connections pinned for handlers, and %d before; want 0 and 1", now, total)
		}
	})
}

func TestSetTransaction(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"CREATE TABLE st (id INT PRIMARY KEY)",
			"SET TRANSACTION READ ONLY",
			"INSERT INTO st VALUES (1)",
			"INSERT INTO st VALUES (2)",
			"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY",
			"BEGIN",
			"INSERT INTO st VALUES (3)",
			"COMMIT",
			"INSERT INTO st VALUES (4)",
			"SET TRANSACTION READ ONLY",
			"SET autocommit = 0",
			"INSERT INTO st VALUES (5)",
			"COMMIT",
			"INSERT INTO st VALUES (6)",
			"COMMIT",
			"SET autocommit = 1",
			"SET SESSION TRANSACTION READ ONLY",
			"INSERT INTO st VALUES (7)",
			"DELETE FROM st",
			"DROP TABLE st",
			"SET SESSION TRANSACTION READ WRITE",
			"START TRANSACTION WITH CONSISTENT SNAPSHOT",
			"SET TRANSACTION READ ONLY",
			"COMMIT",
			"SELECT * FROM st ORDER BY id",
		)
	})
}

func TestAConsistentSnapshotIsOfItsMoment(t *testing.T) {
	pairs(t, shop.Options{Spanning: txn.XA}, func(t *testing.T, p *pair) {
		p.alike(t, "CREATE TABLE snap (id INT PRIMARY KEY)", "INSERT INTO snap VALUES (1), (2)", "START TRANSACTION WITH CONSISTENT SNAPSHOT")
		open(t, "another", p.shop.DB(t, nil)).must(t, "DELETE FROM snap")
		if got := p.proxy.value(t, "SELECT COUNT(*) FROM snap"); got != "2" {
			t.Errorf("%s rows in the snapshot, want 2", got)
		}
		p.proxy.must(t, "INSERT INTO test_order (buyer_uid) VALUES (0), (42)")
		p.proxy.must(t, "COMMIT")
		if got := p.proxy.value(t, "SELECT COUNT(*) FROM snap"); got != "0" {
			t.Errorf("%s rows after the transaction, want none", got)
		}
		p.alike(t, "SELECT @@max_allowed_packet > 0")
	})
}
