package session

import (
	"testing"

	"locus/test/shop"
)

// On MariaDB, a statement that names no table keeps the warnings of the statement before it.
func TestWarningsStay(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, s := range []string{
			"SELECT 1", "SELECT @a, @@autocommit", "SELECT CONNECTION_ID() > 0", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a",
			"USE information_schema", "SET @a = 1", "SELECT CAST('a' AS SIGNED)", "SHOW TABLES LIKE 'nix'", "UNLOCK TABLES", "SELECT SLEEP(0)", "SELECT 1 FROM DUAL", "SELECT (SELECT 1)",
			"PREPARE s FROM 'SELECT 1'", "DEALLOCATE PREPARE s", "START TRANSACTION READ ONLY", "COMMIT", "SELECT 1 UNION SELECT 2", "SHOW VARIABLES LIKE 'basedir'", "SELECT ROW_COUNT()", "SELECT FOUND_ROWS()", "SELECT @@warning_count",
		} {
			p.plain.say("SELECT CAST('x1' AS SIGNED)")
			p.proxy.say("SELECT CAST('x1' AS SIGNED)")
			w, g := p.plain.say(s), p.proxy.say(s)
			if w != g {
				t.Errorf("%s: proxy %s plain %s", s, g, w)
			}
			w, g = p.plain.say("SHOW WARNINGS"), p.proxy.say("SHOW WARNINGS")
			if w != g {
				t.Errorf("behind %s: proxy %s plain %s", s, g, w)
			}
		}
	})
}
