package protocol

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/test/shop"
)

// CLIENT_IGNORE_SPACE at the login sets IGNORE_SPACE until sql_mode is set.
func TestIgnoreSpace(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, capabilities := range []uint32{classic, classic | mysql.CLIENT_IGNORE_SPACE} {
			p.both(t, capabilities, script(
				"SELECT @@sql_mode LIKE '%IGNORE_SPACE%'", "SELECT COUNT (*)", "SET sql_mode = ''", "SELECT COUNT (*)",
				"SET sql_mode = 'IGNORE_SPACE'", "SELECT COUNT (*)",
			))
		}
		c := login(t, p.proxy, classic|mysql.CLIENT_IGNORE_SPACE)
		c.must("SELECT COUNT (*) FROM test_order WHERE buyer_uid = 42")
	})
}

func TestDropDatabase(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, capabilities := range []uint32{classic, classic | mysql.CLIENT_SESSION_TRACK} {
			p.both(t, capabilities, script(
				"CREATE DATABASE dropped_soon", "CREATE TABLE dropped_soon.a (a INT)", "CREATE TABLE dropped_soon.b (a INT)",
				"DROP DATABASE dropped_soon", "DROP DATABASE IF EXISTS dropped_soon",
				"CREATE DATABASE dropped_soon", "USE dropped_soon", "DROP DATABASE dropped_soon", "SELECT DATABASE()", "SELECT * FROM a",
			))
		}
	})
}
