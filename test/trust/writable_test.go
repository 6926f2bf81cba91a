package trust

import (
	"strings"
	"testing"
)

// definitions with foreign keys, of tables that are made through the proxy. Those that would make a table impossible to write are
// refused.
var keyDefinitions = []struct {
	text    string
	refused bool
	clear   string
}{
	{"ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (usr) REFERENCES usr (usr) ON UPDATE CASCADE", false, "ALTER TABLE payment DROP FOREIGN KEY k"},
	{"ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (usr) REFERENCES usr (usr) ON DELETE CASCADE ON UPDATE CASCADE", false, "ALTER TABLE payment DROP FOREIGN KEY k"},
	{"ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (usr) REFERENCES usr (usr) ON UPDATE RESTRICT", false, "ALTER TABLE payment DROP FOREIGN KEY k"},
	{"ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (good) REFERENCES good (id) ON DELETE CASCADE ON UPDATE CASCADE", false, "ALTER TABLE payment DROP FOREIGN KEY k"},
	{"CREATE TABLE refund (id BIGINT PRIMARY KEY, usr BIGINT NOT NULL, FOREIGN KEY (usr) REFERENCES usr (usr) ON UPDATE CASCADE) COMMENT 'locus: owner=usr'", false, "DROP TABLE refund"},
	{"CREATE TABLE person (usr BIGINT, n INT, chief INT, PRIMARY KEY (usr, n), KEY (usr, chief), FOREIGN KEY (usr, chief) REFERENCES person (usr, n) ON DELETE CASCADE ON UPDATE CASCADE) COMMENT 'locus: owner=usr'", false, "DROP TABLE person"},
	{"CREATE TABLE tag (id INT PRIMARY KEY, good INT REFERENCES good (id) ON DELETE CASCADE) COMMENT 'locus: global'", false, "DROP TABLE tag"},

	{"ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (other) REFERENCES usr (usr)", true, ""},
	{"ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (other) REFERENCES usr (usr) ON UPDATE CASCADE", true, ""},
	{"ALTER TABLE payment ADD KEY k1 (good), ADD CONSTRAINT k FOREIGN KEY (good) REFERENCES good (id), ADD FOREIGN KEY (other) REFERENCES usr (usr)", true, ""},
	{"ALTER TABLE payment ADD COLUMN x BIGINT, ADD FOREIGN KEY (x) REFERENCES usr (usr) ON DELETE SET NULL", true, ""},
	{"ALTER TABLE usr ADD CONSTRAINT k FOREIGN KEY (usr) REFERENCES big (id) ON UPDATE CASCADE", true, ""},
	{"ALTER TABLE usr ADD CONSTRAINT k FOREIGN KEY (usr) REFERENCES big (id) ON DELETE CASCADE", false, "ALTER TABLE usr DROP FOREIGN KEY k"},
	{"ALTER TABLE big ADD CONSTRAINT k FOREIGN KEY (id) REFERENCES usr (usr)", true, ""},
	{"CREATE TABLE refund (id BIGINT PRIMARY KEY, usr BIGINT NOT NULL, other BIGINT, FOREIGN KEY (other) REFERENCES usr (usr)) COMMENT 'locus: owner=usr'", true, ""},
	{"CREATE TABLE refund (id BIGINT PRIMARY KEY, usr BIGINT NOT NULL, other BIGINT REFERENCES usr (usr)) COMMENT 'locus: owner=usr'", true, ""},
	{"CREATE TABLE person (usr BIGINT PRIMARY KEY, chief BIGINT, KEY (chief), FOREIGN KEY (chief) REFERENCES person (usr) ON DELETE CASCADE) COMMENT 'locus: owner=usr'", true, ""},
	{"CREATE TABLE tag (id INT PRIMARY KEY, usr BIGINT, FOREIGN KEY (usr) REFERENCES usr (usr)) COMMENT 'locus: global'", true, ""},
	{"CREATE TABLE tag (id INT PRIMARY KEY, note INT, FOREIGN KEY (note) REFERENCES note (id) ON DELETE CASCADE) COMMENT 'locus: global'", true, ""},
	{"CREATE TABLE remark (id INT PRIMARY KEY, usr BIGINT, FOREIGN KEY (usr) REFERENCES usr (usr) ON UPDATE CASCADE)", true, ""},
	{"ALTER TABLE note ADD FOREIGN KEY (usr) REFERENCES usr (usr) ON UPDATE CASCADE", true, ""},
	{"ALTER TABLE payment ADD FOREIGN KEY (noted) REFERENCES note (id)", true, ""},
	{"CREATE TABLE late (id BIGINT PRIMARY KEY)", true, ""}, // waits refers to it
	{"CREATE TABLE late (id BIGINT PRIMARY KEY) COMMENT 'locus: owner=id'", true, ""},
	{"ALTER TABLE master COMMENT 'locus: owner=id'", true, ""}, // servant refers to it
	{"CREATE TRIGGER trg AFTER INSERT ON payment FOR EACH ROW UPDATE usr SET age = 1", true, ""},
	{"CREATE TRIGGER trg AFTER INSERT ON note FOR EACH ROW UPDATE usr SET age = 1", true, ""},
	{"CREATE TRIGGER trg BEFORE INSERT ON usr FOR EACH ROW SET NEW.usr = 1", true, ""},
	{"CREATE TRIGGER trg BEFORE INSERT ON good FOR EACH ROW SET NEW.name = 1", true, ""},
}

// A definition leaves every table as writable as it was, or it is refused.
func TestDefinitionsLeaveTablesWritable(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.app.must(t,
			"CREATE TABLE usr (usr BIGINT PRIMARY KEY, age INT) COMMENT 'locus: owner=usr'",
			"CREATE TABLE payment (id BIGINT PRIMARY KEY, usr BIGINT NOT NULL, other BIGINT, good INT, noted INT, KEY (usr), KEY (other), KEY (good), KEY (noted)) COMMENT 'locus: owner=usr'",
			"CREATE TABLE good (id INT PRIMARY KEY, name INT) COMMENT 'locus: global'",
			"CREATE TABLE big (id BIGINT PRIMARY KEY) COMMENT 'locus: global'",
			"CREATE TABLE note (id INT PRIMARY KEY, usr BIGINT, KEY (usr))",
			"CREATE TABLE master (id BIGINT PRIMARY KEY)",
			"CREATE TABLE servant (id INT PRIMARY KEY, master BIGINT, FOREIGN KEY (master) REFERENCES master (id))",
			"SET foreign_key_checks = 0",
			"CREATE TABLE waits (id BIGINT PRIMARY KEY, late BIGINT, KEY (late), FOREIGN KEY (late) REFERENCES late (id) ON DELETE CASCADE) COMMENT 'locus: owner=id'",
			"SET foreign_key_checks = 1",
		)
		defer s.app.must(t, "DROP TABLE waits, payment, usr, good, big", "DROP TABLE note", "DROP TABLE servant, master")
		for _, d := range keyDefinitions {
			got := s.app.say(d.text)
			if refused := got.err != nil && strings.Contains(got.err.Error(), "locus-"); refused != d.refused || got.err != nil && !refused {
				t.Errorf("%s: %s: %v, want a refusal: %v", s.engine, d.text, got.err, d.refused)
			}
			if d.refused && got.err != nil {
				t.Logf("%s: %v", d.text, got.err)
			}
			s.app.must(t, "BEGIN", "INSERT INTO big VALUES (7)", "INSERT INTO usr VALUES (7, 1)", "UPDATE usr SET age = 2 WHERE usr = 7", "INSERT INTO good VALUES (1, 1)", "INSERT INTO payment VALUES (1, 7, NULL, 1, NULL)",
				"DELETE FROM payment WHERE usr = 7", "DELETE FROM usr WHERE usr = 7", "DELETE FROM good", "DELETE FROM big", "INSERT INTO note VALUES (1, 1)", "DELETE FROM note",
				"INSERT INTO waits VALUES (7, NULL)", "INSERT INTO master VALUES (1)", "INSERT INTO servant VALUES (1, 1)", "DELETE FROM servant", "DELETE FROM master", "ROLLBACK")
			if got.err == nil && d.clear != "" {
				s.app.must(t, d.clear)
			}
		}
	})
}
