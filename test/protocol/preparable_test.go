package protocol

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/test/shop"
)

// The statements that the server can prepare can also be prepared through the proxy. The others get the same
// errors.
func TestWhatCanBePrepared(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, text := range []string{
			"USE " + p.server.schema, "USE no_such_database", "BEGIN", "START TRANSACTION READ ONLY", "COMMIT", "ROLLBACK",
			"SAVEPOINT s", "ROLLBACK TO s", "RELEASE SAVEPOINT s", "SET @a = 1", "SET autocommit = 0", "SET NAMES utf8mb4",
			"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "KILL 1000000000", "KILL QUERY CONNECTION_ID()",
			"LOCK TABLES test_order READ", "UNLOCK TABLES", "SHOW WARNINGS", "SHOW ERRORS", "SHOW COUNT(*) WARNINGS",
			"PREPARE s FROM 'SELECT 1'", "EXECUTE s", "DEALLOCATE PREPARE s", "SHOW STATUS LIKE 'Com_insert'", "SHOW VARIABLES LIKE 'version'",
			"SHOW PROCESSLIST", "SHOW GRANTS", "EXPLAIN SELECT 1", "DESCRIBE test_order", "SHOW CREATE TABLE test_order", "SHOW TABLES",
			"CREATE DATABASE IF NOT EXISTS prepared_database", "DROP DATABASE IF EXISTS prepared_database",
			"FLUSH STATUS", "FLUSH TABLES", "CREATE PROCEDURE pp() SELECT 1", "DO 1", "SELECT 1", "CALL nothing()",
			"CREATE VIEW vv AS SELECT 1", "ALTER DATABASE CHARACTER SET utf8mb4", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1", "HELP 'x'",
		} {
			var said [2]string
			for i, at := range []endpoint{p.server, p.proxy} {
				c := login(t, at, classic)
				c.write(0, append([]byte{mysql.COM_STMT_PREPARE}, text...))
				said[i] = "yes"
				if answer := c.read(); wire.IsERR(answer.payload) {
					said[i] = told(answer)
				}
			}
			if said[0] != said[1] {
				t.Errorf("%s\nproxy  %s\nserver %s", text, said[1], said[0])
			}
		}
	})
}
