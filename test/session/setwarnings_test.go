package session

import (
	"testing"

	"locus/test/shop"
)

func TestWarningsOfSet(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		other := open(t, "another", p.shop.DB(t, nil))
		statements := []string{
			"SET NAMES utf8", "SET NAMES utf8", // the second time nothing changes
			"SET tmp_table_size = 1",
			"SET sql_mode = 'NO_ZERO_DATE', tmp_table_size = 2, NAMES utf8",
			"SET @a = 1",
			"SET NAMES utf8mb4",
			"SET character_set_client = utf8",
			"SET NAMES utf8mb4",
			"SET max_sort_length = 1, nothing_like_it = 2",
			"SET sql_notes = 0", "SET tmp_table_size = 1",
			"SET sql_notes = 1", "SET @@profiling = 1", "SET profiling = 0",
		}
		for _, statement := range statements {
			p.alike(t, statement, "SHOW COUNT(*) WARNINGS", "SHOW WARNINGS", "SELECT @@warning_count")
		}
		p.alike(t, "SELECT @@tmp_table_size, @@sql_mode, @@character_set_client")
		// Now the warnings for these settings are cached, and they must be the same.
		plain := p.plain.say("SET tmp_table_size = 1")
		if got := other.say("SET tmp_table_size = 1"); got != plain {
			t.Errorf("another session: %s, want %s", got, plain)
		}
		if want, got := p.plain.say("SHOW WARNINGS"), other.say("SHOW WARNINGS"); got != want {
			t.Errorf("warnings of another session: %s, want %s", got, want)
		}
	})
}

func TestCharacterSetsOfTheConnection(t *testing.T) {
	const all = "SELECT @@character_set_client, @@character_set_results, @@character_set_connection, @@collation_connection"
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, statement := range []string{
			"SET CHARACTER SET utf8mb4", "SET CHARACTER SET 'latin1'", "SET CHARSET DEFAULT", "SET NAMES utf8mb3",
			"SET CHARACTER SET utf8mb3", "SET NAMES DEFAULT", "SET NAMES utf8mb3 COLLATE utf8mb3_bin",
		} {
			p.alike(t, statement, all, "SET @text = 'it''s', @plain = 'abc'", "SELECT @text, CHARSET(@plain), COLLATION(@plain)")
		}
		p.alike(t, "SET NAMES latin1", "SET collation_connection = koi8r_general_ci", "SET @koi = 'abc'", "SELECT CHARSET(@koi), COLLATION(@koi), @koi = 'abc'")
		if p.engine == "mariadb" {
			p.alike(t, "SET old_mode = ''", "SET NAMES utf8mb3", all, "SET NAMES utf8", all)
		}
	})
}
