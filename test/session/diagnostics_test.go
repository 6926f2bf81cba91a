package session

import (
	"testing"

	"locus/test/shop"
)

// GET DIAGNOSTICS returns what a server would return about the statement before.
func TestDiagnostics(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"SET sql_notes = 0", // else the proxy notes that the table is not declared
			"CREATE TABLE d (id INT PRIMARY KEY, v VARCHAR(3))",
			"GET DIAGNOSTICS @n = NUMBER, @r = ROW_COUNT",
			"SELECT @n, @r",
			"SET sql_notes = 1",
			"INSERT INTO d VALUES (1, 'a'), (2, 'b')",
			"GET DIAGNOSTICS @n = NUMBER, @r = ROW_COUNT",
			"SELECT @n, @r, ROW_COUNT()",
			"INSERT INTO d VALUES (1, 'a')",
			"GET CURRENT DIAGNOSTICS @n = NUMBER, @r = ROW_COUNT",
			"GET DIAGNOSTICS CONDITION @n @state = RETURNED_SQLSTATE, @code = MYSQL_ERRNO, @text = MESSAGE_TEXT",
			"SHOW WARNINGS",
			"SELECT @n, @r, @state, @code, @text",
			"SELECT COLLATION(@state), COLLATION(@text), COLLATION(@code)",
			"INSERT IGNORE INTO d VALUES (1, 'a'), (3, 'long'), (NULL, 'x')",
			"get diagnostics condition 2 @state = returned_sqlstate, @code = mysql_errno, @text = message_text;",
			"SELECT @state, @code, @text",
			"SELECT * FROM no_such_table",
			"GET DIAGNOSTICS CONDITION 1 @`State` = RETURNED_SQLSTATE /* of it */, @code = MYSQL_ERRNO",
			"SELECT @state, @code",
			"SIGNAL SQLSTATE '45001' SET MESSAGE_TEXT = 'it''s ä', MYSQL_ERRNO = 5001",
			"GET DIAGNOSTICS CONDITION 1 @state = RETURNED_SQLSTATE, @code = MYSQL_ERRNO, @text = MESSAGE_TEXT",
			"SELECT @state, @code, @text",
			"DROP TABLE IF EXISTS no_such_table",
			"GET DIAGNOSTICS CONDITION 2 @code = MYSQL_ERRNO",
			"SHOW ERRORS",
			"SELECT @code",
			"PREPARE s FROM 'GET DIAGNOSTICS @n = NUMBER'",
		)
		if got := p.proxy.say("SELECT * FROM test_order WHERE no_such_column = 1"); got == "" {
			t.Error("a column that is not there is answered")
		}
		if got := p.proxy.say("GET DIAGNOSTICS CONDITION 1 @code = MYSQL_ERRNO"); got != "" {
			t.Errorf("of a statement on several shards: %s", got)
		}
		if got := p.proxy.value(t, "SELECT @code"); got != "1054" {
			t.Errorf("its error: %s", got)
		}
	})
}
