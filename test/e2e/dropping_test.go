package e2e

import (
	"database/sql"
	"testing"

	"locus/test/shop"
)

// Tools drop all tables of a database in one statement, whether they are on all shards or on one.
func TestTablesOfAllKindsAreDroppedTogether(t *testing.T) {
	each(t, shop.Options{}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		create := func() {
			exec(t, db, "CREATE TABLE IF NOT EXISTS cart (owner INT NOT NULL PRIMARY KEY) COMMENT 'locus: owner=owner'")
			exec(t, db, "CREATE TABLE IF NOT EXISTS cart_item (owner INT NOT NULL, n INT NOT NULL, PRIMARY KEY (owner, n), FOREIGN KEY (owner) REFERENCES cart (owner)) COMMENT 'locus: owner=owner'")
			exec(t, db, "CREATE TABLE IF NOT EXISTS migrations (id INT NOT NULL PRIMARY KEY)")
			exec(t, db, "CREATE TABLE IF NOT EXISTS `odd ``name` (id INT NOT NULL PRIMARY KEY)")
			exec(t, db, "CREATE OR REPLACE VIEW old AS SELECT id FROM migrations")
			for owner := range 9 {
				exec(t, db, "INSERT INTO cart VALUES (?)", owner)
			}
		}
		left := func() (tables [4]int) {
			for i, server := range s.Servers {
				at := server.DB(t, s.Schema)
				tables[i] = int(number(t, at, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('cart', 'cart_item', 'migrations', 'odd `name')"))
				if err := at.Close(); err != nil {
					t.Fatal(err)
				}
			}
			return tables
		}
		create()
		before := left()
		for query, code := range map[string]uint16{
			"DROP TABLE cart_item, cart, missing": 1051,
			"DROP TABLE old, cart_item, cart":     1051,
		} {
			_, err := db.Exec(query)
			refused(t, err, code, "nothing was done on any shard")
			if got := left(); got != before {
				t.Errorf("%s: %v tables are left, %v were there", query, got, before)
			}
		}
		// A statement that took effect on some shards only is repeated, and drops the remaining tables.
		exec(t, s.Servers[0].DB(t, s.Schema), "DROP TABLE cart_item, migrations")
		exec(t, db, "DROP TABLE cart_item, migrations, cart, `odd ``name`")
		if got := left(); got != [4]int{} {
			t.Errorf("%v tables are left after the repetition", got)
		}
		create()
		exec(t, db, "DROP TABLE cart_item, migrations, cart, `odd ``name`")
		if got := left(); got != [4]int{} {
			t.Errorf("%v tables are left", got)
		}
		create()
		if got := number(t, db, "SELECT COUNT(*) FROM cart"); got != 9 {
			t.Errorf("%v rows of the new table", got)
		}
		exec(t, db, "DROP TABLE IF EXISTS missing, cart_item, cart, `odd ``name`, "+s.Schema+".migrations CASCADE")
		if got := left(); got != [4]int{} {
			t.Errorf("%v tables are left after IF EXISTS", got)
		}
	})
}
