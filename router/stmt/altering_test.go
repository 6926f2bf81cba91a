package stmt

import (
	"fmt"
	"testing"
)

// « marks the position where a clause such as ALGORITHM=INSTANT can be inserted into an ALTER TABLE. "!" means
// that the text already has ALGORITHM=INSTANT.
func TestWhereClausesBegin(t *testing.T) {
	for text, want := range map[string]string{
		"ALTER TABLE t MODIFY a INT":                                    "ALTER TABLE t «MODIFY a INT",
		"/* x */ alter table `a`.`t`/* y */drop a, ADD b INT DEFAULT 7": "/* x */ alter table `a`.`t`/* y */«drop a, ADD b INT DEFAULT 7",
		"ALTER TABLE t ADD a INT, ALGORITHM=INSTANT":                    "!",
		"ALTER TABLE t ADD a INT, ALGORITHM=COPY":                       "",
		"ALTER TABLE t LOCK=NONE, ADD a INT":                            "",
	} {
		l, s := parsed(t, text)
		got := ""
		if s.Altering.Instant {
			got = "!"
		}
		if at := s.Altering.Clauses; at != nil {
			got = text[:l.Offset(*at)] + "«" + text[l.Offset(*at):]
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// An ALTER TABLE removes or adds rows by some clauses, wherever they are among others.
func TestClausesThatChangeRows(t *testing.T) {
	for text, want := range map[string]string{
		"ALTER TABLE t TRUNCATE PARTITION a":                        "TRUNCATE PARTITION",
		"ALTER TABLE t DROP PARTITION a, b":                         "DROP PARTITION",
		"ALTER TABLE t EXCHANGE PARTITION a WITH TABLE u":           "EXCHANGE PARTITION",
		"ALTER IGNORE TABLE t ADD UNIQUE KEY (a)":                   "IGNORE",
		"/* x */ alter online ignore table t add unique (a)":        "IGNORE",
		"ALTER TABLE `ignore` ADD UNIQUE KEY (a)":                   "",
		"ALTER TABLE t COALESCE PARTITION 2":                        "",
		"ALTER TABLE t ADD a INT, ENGINE = MyISAM":                  "engine myisam",
		"ALTER TABLE t CONVERT TO CHARACTER SET latin1, COMMENT ''": "converts to latin1",
	} {
		_, s := parsed(t, text)
		got := s.Altering.Rows
		if s.Altering.Engine != "" {
			got += "engine " + s.Altering.Engine
		}
		if s.Altering.Converts != nil {
			got += "converts to " + s.Altering.Converts.Charset
		}
		if got != want {
			t.Errorf("%s: %q, and not %q", text, got, want)
		}
	}
}

// A definition changes these tables. "alone" means that nothing else changes together with them.
func TestRedefined(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE TABLE t (p INT, FOREIGN KEY (p) REFERENCES parent (id))": "[t]",
		"CREATE TABLE t LIKE u":                                                 "[t]",
		"CREATE TABLE t SELECT a FROM u":                                        "[t]",
		"CREATE OR REPLACE VIEW v AS SELECT a FROM t JOIN u":                    "[v]",
		"ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id)": "[t] alone",
		"ALTER TABLE t ADD UNIQUE (a), DROP INDEX b, COMMENT 'x'":               "[t] alone",
		"ALTER TABLE t DROP FOREIGN KEY f":                                      "[t] alone",
		"ALTER TABLE t ADD COLUMN a INT":                                        "[t]",
		"ALTER TABLE t ADD INDEX (a), RENAME COLUMN b TO c":                     "[t]",
		"ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4":                        "[t]",
		"ALTER TABLE t ADD INDEX (a), RENAME TO u":                              "[t u t u]",
		"RENAME TABLE t TO u, v TO w":                                           "[t u v w t u v w]",
		"CREATE UNIQUE INDEX a ON t (a)":                                        "[t] alone",
		"DROP INDEX a ON t":                                                     "[t] alone",
		"DROP TABLE t, u":                                                       "[t u t u]",
		"DROP VIEW v, w":                                                        "[v w]",
		"TRUNCATE t":                                                            "[t]",
		"ALTER TABLE t EXCHANGE PARTITION p WITH TABLE u":                       "[t] alone",
	} {
		_, s := parsed(t, text)
		names, alone := s.Redefined()
		var list []string
		for _, n := range names {
			list = append(list, n.Name)
		}
		got := fmt.Sprint(list)
		if alone {
			got += " alone"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
