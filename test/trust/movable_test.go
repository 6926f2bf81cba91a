package trust

import (
	"strings"
	"testing"
)

// movable are definitions after which rows can or can't be moved, or a move may fail.
var movable = []struct {
	text, warns string // in the warning; empty: there is none
	clear       string
}{
	{"ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (usr) REFERENCES usr (usr) ON DELETE CASCADE ON UPDATE CASCADE", "", "ALTER TABLE payment DROP FOREIGN KEY k"},
	{"ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (good) REFERENCES good (id)", "", "ALTER TABLE payment DROP FOREIGN KEY k"},
	{"ALTER TABLE payment ADD KEY (other)", "", ""},
	{"ALTER TABLE payment ADD UNIQUE KEY loose (usr, mail)", "", "ALTER TABLE payment DROP KEY loose"},
	{"ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (good) REFERENCES good (id) ON DELETE CASCADE", "foreign key k changes rows", "ALTER TABLE payment DROP FOREIGN KEY k"},
	{"ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (good) REFERENCES good (id) ON DELETE SET NULL", "foreign key k changes rows", "ALTER TABLE payment DROP FOREIGN KEY k"},
	{"ALTER TABLE payment ADD UNIQUE KEY loose (mail)", "unique key loose does not contain the owner", "ALTER TABLE payment DROP KEY loose"},
	{"CREATE UNIQUE INDEX loose ON payment (mail)", "unique key loose does not contain the owner", "ALTER TABLE payment DROP KEY loose"},
	{"ALTER TABLE payment ADD COLUMN phone VARCHAR(20) UNIQUE", "unique key phone does not contain the owner", "ALTER TABLE payment DROP COLUMN phone"},
	{"CREATE TABLE mail (usr BIGINT NOT NULL, mail VARCHAR(20) PRIMARY KEY) COMMENT 'locus: owner=usr'", "unique key PRIMARY does not contain the owner", "DROP TABLE mail"},
	{"CREATE TABLE IF NOT EXISTS person (usr BIGINT, n INT, chief INT, PRIMARY KEY (usr, n), KEY (usr, chief), CONSTRAINT k FOREIGN KEY (usr, chief) REFERENCES person (usr, n) ON DELETE CASCADE) COMMENT 'locus: owner=usr'",
		"passes on what foreign key k of table", "DROP TABLE person"},
}

// What keeps rows from being moved is said by a warning of the definition that makes it, once.
func TestDefinitionsWarnOfWhatCannotMove(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.app.must(t,
			"CREATE TABLE usr (usr BIGINT PRIMARY KEY, age INT) COMMENT 'locus: owner=usr'",
			"CREATE TABLE payment (id BIGINT, usr BIGINT NOT NULL, other BIGINT, good INT, mail VARCHAR(20), PRIMARY KEY (usr, id), KEY (usr), KEY (good)) COMMENT 'locus: owner=usr'",
			"CREATE TABLE good (id INT PRIMARY KEY, name INT) COMMENT 'locus: global'",
		)
		defer s.app.must(t, "DROP TABLE payment, usr, good")
		for _, d := range movable {
			s.app.must(t, d.text)
			warned := strings.Join(s.app.say("SHOW WARNINGS").results[0].rows, "\n")
			if n := strings.Count(warned, "locus: table"); (n == 1) != (d.warns != "") || n > 1 || !strings.Contains(warned, d.warns) {
				t.Errorf("%s: %s: warnings %q, want %q", s.engine, d.text, warned, d.warns)
			}
			if counted := s.app.say("SELECT @@warning_count"); d.warns != "" && counted.results[0].rows[0] == `"0"` {
				t.Errorf("%s: %s: no warning is counted", s.engine, d.text)
			}
			if d.clear != "" {
				s.app.must(t, d.clear)
			}
		}
	})
}
