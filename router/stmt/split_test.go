package stmt

import (
	"slices"
	"testing"
)

func statementsOf(text string, mode Mode) (pieces []string) {
	for rest := []byte(text); ; {
		end, next := First(rest, mode)
		pieces = append(pieces, string(rest[:end]))
		if next == len(rest) {
			return pieces
		}
		rest = rest[next:]
	}
}

func TestFirst(t *testing.T) {
	for _, c := range []struct {
		text string
		mode Mode
		want []string
	}{
		{"SELECT 1", 0, []string{"SELECT 1"}},
		{"SELECT 1; ; ", 0, []string{"SELECT 1"}},
		{"SELECT 1;\n SELECT 2;", 0, []string{"SELECT 1", "SELECT 2"}},
		{"SELECT 1;;SELECT 2", 0, []string{"SELECT 1", "", "SELECT 2"}},
		{`SELECT ';' ; SELECT "a;\";" ; SELECT ` + "`;`", 0, []string{`SELECT ';' `, `SELECT "a;\";" `, "SELECT `;`"}},
		{`SELECT 'a\'; SELECT 'b'`, NoBackslash, []string{`SELECT 'a\'`, `SELECT 'b'`}},
		{`SELECT "a\"; SELECT 'b'`, AnsiQuotes, []string{`SELECT "a\"`, `SELECT 'b'`}},
		{
			"SELECT 1 -- ;\n; SELECT 2 # ;\n; SELECT /* ; */ 3", 0,
			[]string{"SELECT 1 -- ;\n", "SELECT 2 # ;\n", "SELECT /* ; */ 3"},
		},
		{"SELECT 1--1; SELECT 2", 0, []string{"SELECT 1--1", "SELECT 2"}},
		{"BEGIN; UPDATE t SET a = CASE WHEN b THEN 1 END; COMMIT", 0, []string{"BEGIN", "UPDATE t SET a = CASE WHEN b THEN 1 END", "COMMIT"}},
		{"CREATE PROCEDURE p() SELECT 1; SELECT 2", 0, []string{"CREATE PROCEDURE p() SELECT 1", "SELECT 2"}},
		{"CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END; CALL p()", 0, []string{"CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END", "CALL p()"}},
		{
			"CREATE DEFINER=`a`@`%` TRIGGER g BEFORE INSERT ON t FOR EACH ROW IF NEW.a > 1 THEN SET NEW.a = IF(NEW.b, 1, 2); ELSE SET NEW.a = 3; END IF; SELECT 2", 0,
			[]string{"CREATE DEFINER=`a`@`%` TRIGGER g BEFORE INSERT ON t FOR EACH ROW IF NEW.a > 1 THEN SET NEW.a = IF(NEW.b, 1, 2); ELSE SET NEW.a = 3; END IF", "SELECT 2"},
		},
		{
			"CREATE FUNCTION f() RETURNS INT BEGIN DROP TEMPORARY TABLE IF EXISTS x; a: LOOP SET @x = CASE @x WHEN 1 THEN IF(@y, 2, 3) ELSE REPEAT('a', 2) END; LEAVE a; END LOOP a; WHILE 0 DO SET @x = 1; END WHILE; CASE @x WHEN 1 THEN IF (@y) THEN SET @z = 1; END IF; END CASE; RETURN 1; END; SELECT f()", 0,
			[]string{"CREATE FUNCTION f() RETURNS INT BEGIN DROP TEMPORARY TABLE IF EXISTS x; a: LOOP SET @x = CASE @x WHEN 1 THEN IF(@y, 2, 3) ELSE REPEAT('a', 2) END; LEAVE a; END LOOP a; WHILE 0 DO SET @x = 1; END WHILE; CASE @x WHEN 1 THEN IF (@y) THEN SET @z = 1; END IF; END CASE; RETURN 1; END", "SELECT f()"},
		},
		{"BEGIN NOT ATOMIC SELECT 1; SELECT 2; END; SELECT 3", 0, []string{"BEGIN NOT ATOMIC SELECT 1; SELECT 2; END", "SELECT 3"}},
		{"BEGIN NOT ATOMIC FOR i IN 1..2 DO SELECT i; END FOR; END; SELECT 3", 0, []string{"BEGIN NOT ATOMIC FOR i IN 1..2 DO SELECT i; END FOR; END", "SELECT 3"}},
		{"BEGIN NOT ATOMIC IF 1 THEN SELECT 1; END IF; END; SELECT 3", 0, []string{"BEGIN NOT ATOMIC IF 1 THEN SELECT 1; END IF; END", "SELECT 3"}},
		{"IF 1 THEN SELECT 1; SELECT 2; END IF; SELECT 3", 0, []string{"IF 1 THEN SELECT 1; SELECT 2; END IF", "SELECT 3"}},
		{"a: WHILE @x DO SET @x = IF(@x, 1, 2); END WHILE a; SELECT 3", 0, []string{"a: WHILE @x DO SET @x = IF(@x, 1, 2); END WHILE a", "SELECT 3"}},
		{
			"SET STATEMENT max_statement_time=1 FOR BEGIN NOT ATOMIC SELECT 1; SELECT 2; END; SELECT 3", 0,
			[]string{"SET STATEMENT max_statement_time=1 FOR BEGIN NOT ATOMIC SELECT 1; SELECT 2; END", "SELECT 3"},
		},
		{"ALTER EVENT e DO BEGIN SELECT 1; END; SELECT 3", 0, []string{"ALTER EVENT e DO BEGIN SELECT 1; END", "SELECT 3"}},
		{
			"CASE WHEN 1 THEN SELECT 1; END CASE; FOR i IN 1..2 DO SELECT i; END FOR; LOOP SELECT 1; END LOOP; REPEAT SELECT 1; UNTIL 1 END REPEAT; BEGIN; SET a = 1", 0,
			[]string{"CASE WHEN 1 THEN SELECT 1; END CASE", "FOR i IN 1..2 DO SELECT i; END FOR", "LOOP SELECT 1; END LOOP", "REPEAT SELECT 1; UNTIL 1 END REPEAT", "BEGIN", "SET a = 1"},
		},
		{
			"CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW DECLARE c INT := 0; BEGIN SET c := 1; END; SELECT 3", 0,
			[]string{"CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW DECLARE c INT := 0; BEGIN SET c := 1; END; SELECT 3"},
		},
		{"CREATE OR REPLACE PACKAGE p AS FUNCTION a RETURN INT; END", 0, []string{"CREATE OR REPLACE PACKAGE p AS FUNCTION a RETURN INT; END"}},
		{"CREATE FUNCTION f RETURN INT IS x INT; BEGIN RETURN 1; END", 0, []string{"CREATE FUNCTION f RETURN INT IS x INT; BEGIN RETURN 1; END"}},
		{"CREATE PROCEDURE p() SELECT 1 AS x; SELECT 2", 0, []string{"CREATE PROCEDURE p() SELECT 1 AS x", "SELECT 2"}},
		{"CREATE TABLE event (trigger_at INT); SELECT 1", 0, []string{"CREATE TABLE event (trigger_at INT)", "SELECT 1"}},
		{"SELECT 'unfinished; SELECT 2", 0, []string{"SELECT 'unfinished; SELECT 2"}},
		{"", 0, []string{""}},
	} {
		if got := statementsOf(c.text, c.mode); !slices.Equal(got, c.want) {
			t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// For any bytes: the pieces are parts of the text, in order, and their number is finite. If there is only one
// piece, the lexer finds one statement.
func FuzzFirst(f *testing.F) {
	for _, seed := range []string{"SELECT 1;SELECT 2", "CREATE PROCEDURE p() BEGIN CASE; END; END", "'", "/*!", "--", "a.end;x", "begin not;"} {
		f.Add([]byte(seed), byte(0))
	}
	f.Fuzz(func(t *testing.T, text []byte, mode byte) {
		for rest := text; len(rest) > 0; {
			end, next := First(rest, Mode(mode)&(AnsiQuotes|NoBackslash))
			if end < 0 || end > next || next > len(rest) || next == 0 {
				t.Fatalf("%q: end %d, next %d", rest, end, next)
			}
			rest = rest[next:]
		}
	})
}

func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " \n": true, "--": true, "-- x": true, "--\tx\n ": true, "# x": true, "/* x */ /*+ y */": true,
		"--x": false, "-- x\n1": false, "/* x": false, "/*! x */": false, "/*M! x */": false, "/* x */ y": false, ";": false,
	} {
		if got := Blank([]byte(text)); got != want {
			t.Errorf("%q is blank: %v", text, got)
		}
	}
}
