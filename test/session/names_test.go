package session

import (
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

// Names of databases are read in the client's character set, even on connections that are later lent to other sessions.
func TestDatabasesOfForeignLetters(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, who := range []*talk{p.plain, p.proxy} {
			servers.Shared(t, p.engine, 3)
			who.must(t, "SET NAMES utf8mb4")
			who.must(t, "CREATE DATABASE IF NOT EXISTS `имя_базы_данных_которое_длиннее_многих`")
			t.Cleanup(func() {
				who.say("DROP DATABASE `имя_базы_данных_которое_длиннее_многих`")
			})
		}
		p.alike(t,
			"USE `имя_базы_данных_которое_длиннее_многих`", "SELECT DATABASE()", "CREATE TABLE т (id INT)", "SHOW TABLES",
			"SET time_zone = '+01:00'", "SELECT DATABASE(), @@time_zone", "SET NAMES latin1", "SELECT HEX(DATABASE())", "SET NAMES koi8r", "SELECT HEX(DATABASE())",
			"USE information_schema", "USE `\xc9\xcd\xd1_\xc2\xc1\xda\xd9_\xc4\xc1\xce\xce\xd9\xc8_\xcb\xcf\xd4\xcf\xd2\xcf\xc5_\xc4\xcc\xc9\xce\xce\xc5\xc5_\xcd\xce\xcf\xc7\xc9\xc8`",
			"SELECT HEX(DATABASE())", "SET NAMES utf8mb4", "SELECT DATABASE()", "BEGIN", "SELECT * FROM т", "USE information_schema", "SELECT DATABASE()", "COMMIT",
			"SET @a = _dec8 0xD0, @b = _koi8r'abc', @c = _utf16 0x0041", "SELECT HEX(@a), CHARSET(@a), CHARSET(@b), HEX(@c), CHARSET(@c)",
			"SET @text = CONVERT('SELECT 1 + 1 AS two' USING utf16)", "PREPARE stmt FROM @text", "EXECUTE stmt",
			"SET time_zone = '+03:00'", "SET NAMES utf8mb4, collation_connection = utf16_general_ci", "SELECT @@time_zone = '+03:00'", "SET NAMES utf8mb4",
			"SHOW CREATE TABLE `имя_базы_данных_которое_длиннее_многих`.т", "SELECT FOUND_ROWS()", "SHOW ENGINES", "SELECT FOUND_ROWS() > 2",
		)
	})
}
