package trust

import (
	"regexp"
	"strings"
	"testing"
)

// movable are definitions after which rows can or can't be moved, or a move may fail.
var movable = []struct {
	text, warns string // part of the warning; empty: no warning
	clear       string
	before      string // a statement before it
	only        string // the server that takes it
}{
	{text: "ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (usr) REFERENCES usr (usr) ON DELETE CASCADE ON UPDATE CASCADE", warns: "", clear: "ALTER TABLE payment DROP FOREIGN KEY k"},
	{text: "ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (good) REFERENCES good (id)", warns: "", clear: "ALTER TABLE payment DROP FOREIGN KEY k"},
	{text: "ALTER TABLE payment ADD KEY (other)", warns: "", clear: ""},
	{text: "ALTER TABLE payment ADD UNIQUE KEY loose (usr, mail)", warns: "", clear: "ALTER TABLE payment DROP KEY loose"},
	{text: "ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (good) REFERENCES good (id) ON DELETE CASCADE", warns: "foreign key k changes rows", clear: "ALTER TABLE payment DROP FOREIGN KEY k"},
	{text: "ALTER TABLE payment ADD CONSTRAINT k FOREIGN KEY (good) REFERENCES good (id) ON DELETE SET NULL", warns: "foreign key k changes rows", clear: "ALTER TABLE payment DROP FOREIGN KEY k"},
	{text: "ALTER TABLE payment ADD UNIQUE KEY loose (mail)", warns: "unique key loose does not contain the owner", clear: "ALTER TABLE payment DROP KEY loose"},
	{text: "CREATE UNIQUE INDEX loose ON payment (mail)", warns: "unique key loose does not contain the owner", clear: "ALTER TABLE payment DROP KEY loose"},
	{text: "ALTER TABLE payment ADD COLUMN phone VARCHAR(20) UNIQUE", warns: "unique key phone does not contain the owner", clear: "ALTER TABLE payment DROP COLUMN phone"},
	{text: "CREATE TABLE mail (usr BIGINT NOT NULL, mail VARCHAR(20) PRIMARY KEY) COMMENT 'locus: owner=usr'", warns: "unique key PRIMARY does not contain the owner", clear: "DROP TABLE mail"},
	{text: "CREATE TABLE IF NOT EXISTS person (usr BIGINT, n INT, chief INT, PRIMARY KEY (usr, n), KEY (usr, chief), CONSTRAINT k FOREIGN KEY (usr, chief) REFERENCES person (usr, n) ON DELETE CASCADE) COMMENT 'locus: owner=usr'", warns: "", clear: "DROP TABLE person"},
	{text: "CREATE TABLE receipt (id BIGINT, usr BIGINT NOT NULL, good INT, PRIMARY KEY (usr, id), FOREIGN KEY (good) REFERENCES good (id) ON UPDATE CASCADE) COMMENT 'locus: owner=usr'", warns: "when rows of global table", clear: "DROP TABLE receipt"},
	{text: "CREATE TABLE receipt (id BIGINT, usr BIGINT NOT NULL, good INT, PRIMARY KEY (usr, id), FOREIGN KEY (good) REFERENCES good (id) ON UPDATE SET NULL) COMMENT 'locus: owner=usr'", warns: "when rows of global table", clear: "DROP TABLE receipt"},
	{
		before: "CREATE TABLE receipt (id BIGINT, usr BIGINT NOT NULL, good INT, PRIMARY KEY (usr, id), CONSTRAINT k FOREIGN KEY (good) REFERENCES good (id) ON DELETE SET NULL)",
		text:   "ALTER TABLE receipt COMMENT 'locus: owner=usr'", warns: "foreign key k changes rows", clear: "DROP TABLE receipt",
	},
	{text: "ALTER TABLE payment ADD CONSTRAINT loose UNIQUE (mail)", warns: "unique key loose does not contain the owner", clear: "ALTER TABLE payment DROP KEY loose"},
	{text: "ALTER TABLE payment ADD UNIQUE loose (mail(5), other)", warns: "unique key loose does not contain the owner", clear: "ALTER TABLE payment DROP KEY loose"},
	{text: "ALTER TABLE payment MODIFY mail VARCHAR(20) UNIQUE", warns: "unique key mail does not contain the owner", clear: "ALTER TABLE payment DROP KEY mail"},
	{text: "ALTER TABLE payment CHANGE mail post VARCHAR(20) UNIQUE", warns: "unique key post does not contain the owner", clear: "ALTER TABLE payment DROP KEY post, CHANGE post mail VARCHAR(20)"},
	{text: "ALTER TABLE payment ADD COLUMN low VARCHAR(20) AS (LOWER(mail)) STORED UNIQUE", warns: "unique key low does not contain the owner", clear: "ALTER TABLE payment DROP COLUMN low"},
	{text: "ALTER TABLE payment ADD COLUMN low VARCHAR(20) AS (LOWER(mail)) VIRTUAL, ADD UNIQUE KEY loose (low)", warns: "unique key loose does not contain the owner", clear: "ALTER TABLE payment DROP KEY loose, DROP COLUMN low"},
	{text: "ALTER TABLE payment ADD UNIQUE KEY loose ((LOWER(mail)))", warns: "unique key loose does not contain the owner", clear: "ALTER TABLE payment DROP KEY loose", only: "mysql"},
	{text: "CREATE UNIQUE INDEX loose ON payment ((LOWER(mail)), other)", warns: "unique key loose does not contain the owner", clear: "ALTER TABLE payment DROP KEY loose", only: "mysql"},
	{text: "CREATE UNIQUE INDEX IF NOT EXISTS loose ON payment (mail)", warns: "unique key loose does not contain the owner", clear: "ALTER TABLE payment DROP KEY loose", only: "mariadb"},
	{
		before: "ALTER TABLE payment ADD UNIQUE KEY loose (usr, mail)",
		text:   "ALTER TABLE payment DROP KEY loose, ADD UNIQUE KEY loose (mail)", warns: "unique key loose does not contain the owner", clear: "ALTER TABLE payment DROP KEY loose",
	},
	{
		text:  "CREATE TABLE person (usr BIGINT, n INT, mail VARCHAR(20) UNIQUE, PRIMARY KEY (usr, n)) COMMENT 'locus: owner=usr'",
		warns: "unique key mail does not contain the owner", clear: "DROP TABLE person",
	},
	{
		text:  "CREATE TABLE person (usr BIGINT, n INT, mail VARCHAR(20), PRIMARY KEY (usr, n), UNIQUE loose (mail)) COMMENT 'locus: owner=usr'",
		warns: "unique key loose does not contain the owner", clear: "DROP TABLE person",
	},
	{
		text:  "CREATE TABLE person (usr BIGINT, n INT, mail VARCHAR(20), low VARCHAR(20) AS (LOWER(mail)) VIRTUAL UNIQUE, PRIMARY KEY (usr, n)) COMMENT 'locus: owner=usr'",
		warns: "unique key low does not contain the owner", clear: "DROP TABLE person",
	},
	{
		text:  "CREATE TABLE person (usr BIGINT, n INT, mail VARCHAR(20), PRIMARY KEY (usr, n), UNIQUE KEY loose ((LOWER(mail)))) COMMENT 'locus: owner=usr'",
		warns: "unique key loose does not contain the owner", clear: "DROP TABLE person", only: "mysql",
	},
	{
		before: "CREATE TABLE person (usr BIGINT, n INT, mail VARCHAR(20) UNIQUE, PRIMARY KEY (usr, n))",
		text:   "ALTER TABLE person COMMENT 'locus: owner=usr'", warns: "unique key mail does not contain the owner", clear: "DROP TABLE person",
	},
}

// If a definition makes a table that can't be moved, it returns a warning with the reason, once.
func TestDefinitionsWarnOfWhatCannotMove(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.app.must(t,
			"CREATE TABLE usr (usr BIGINT PRIMARY KEY, age INT) COMMENT 'locus: owner=usr'",
			"CREATE TABLE payment (id BIGINT, usr BIGINT NOT NULL, other BIGINT, good INT, mail VARCHAR(20), PRIMARY KEY (usr, id), KEY (usr), KEY (good)) COMMENT 'locus: owner=usr'",
			"CREATE TABLE good (id INT PRIMARY KEY, name INT) COMMENT 'locus: global'",
		)
		defer s.app.must(t, "DROP TABLE payment, usr, good")
		for _, d := range movable {
			if d.only != "" && d.only != string(s.engine) {
				continue
			}
			if d.before != "" {
				s.app.must(t, d.before)
			}
			s.app.must(t, d.text)
			warned := strings.Join(s.app.say("SHOW WARNINGS").results[0].rows, "\n")
			if n := strings.Count(warned, "locus: table"); (n == 1) != (d.warns != "") || n > 1 || !strings.Contains(warned, d.warns) {
				t.Errorf("%s: %s: warnings %q, want %q", s.engine, d.text, warned, d.warns)
			}
			if counted := s.app.say("SELECT @@warning_count"); d.warns != "" && counted.results[0].rows[0] == `"0"` {
				t.Errorf("%s: %s: no warning is counted", s.engine, d.text)
			}
			s.followRemedy(t, d.text, warned)
			if d.clear != "" {
				s.app.must(t, d.clear)
			}
		}
	})
}

// withOwner matches the remedy for a unique key without the owner.
var withOwner = regexp.MustCompile("ALTER TABLE \\S+ DROP (?:PRIMARY )?KEY[^\"]*\\)")

// followRemedy runs the statement that a warning of a unique key names. It takes the reason for the warning away. A key with parts that are
// prefixes or expressions has no statement.
func (s *stand) followRemedy(t *testing.T, definition, warned string) {
	t.Helper()
	remedy := withOwner.FindString(warned)
	whole := !strings.Contains(definition, "(mail(5)") && !strings.Contains(definition, "((LOWER(")
	if strings.Contains(warned, "unique key") && whole != (remedy != "") {
		t.Errorf("%s: %q names no remedy", s.engine, warned)
	}
	if remedy == "" {
		return
	}
	s.app.must(t, remedy)
	if again := strings.Join(s.app.say("SHOW WARNINGS").results[0].rows, "\n"); strings.Contains(again, "unique key") {
		t.Errorf("%s: after %s: %s", s.engine, remedy, again)
	}
	s.app.must(t, strings.Replace(remedy, ", `usr`)", ")", 1)) // as it was
}
