package stmt

import "testing"

func TestTheCommentOfATable(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE TABLE t (a INT COMMENT 'locus: no') COMMENT 'locus: global'":       "locus: global",
		"CREATE TABLE t (a INT) ENGINE=InnoDB COMMENT = 'it''s \\'x' CHARSET utf8": "it's 'x",
		"CREATE TABLE t (a INT) COMMENT 'one' COMMENT 'two'":                       "two",
		"ALTER TABLE t COMMENT 'x'":                                                "x alone",
		"ALTER TABLE t COMMENT = ''":                                               " alone",
		"ALTER TABLE t ADD COLUMN b INT COMMENT 'y', COMMENT 'x'":                  "x",
		"ALTER TABLE t COMMENT 'x' ENGINE = InnoDB":                                "x",
		"ALTER TABLE t ADD COLUMN b INT COMMENT 'y'":                               "none",
		"CREATE TABLE t (a INT)":                                                   "none",
	} {
		_, s := parsed(t, text)
		got := "none"
		if s.Comment != nil {
			got = *s.Comment
		}
		if s.CommentAlone {
			got += " alone"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if (s.Comment != nil) != s.Verbatim {
			t.Errorf("%s: verbatim is %v", text, s.Verbatim)
		}
	}
}

func TestTablesOfUnreadTexts(t *testing.T) {
	for text, want := range map[string]bool{
		"CREATE OR REPLACE TABLE t (a WHAT) COMMENT ' Locus: global'":                                                                   true,
		"SET STATEMENT max_statement_time = 1, sql_mode = '', lock_wait_timeout = 2 FOR CREATE TABLE t (a INT) COMMENT 'locus: global'": true,
		"alter table t what comment \"locus: x\"":                                                                                       true,
		"CREATE TABLE t (a INT) COMMENT 'see locus: x'":                                                                                 false,
		"CREATE TABLE locus (a INT) /* 'locus: x' */":                                                                                   false,
		"CREATE TRIGGER locus BEFORE INSERT ON t FOR EACH ROW SET @a='locus: x'":                                                        false,
		"SELECT 'locus: x'": false,
	} {
		var l Lexed
		l.Lex([]byte(text), 0)
		if got := DefinesTable(&l) && l.SaysInString("locus:"); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
