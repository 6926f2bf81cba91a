package session

import (
	"strings"
	"testing"
)

func TestCallsOfGeneratorsAreFound(t *testing.T) {
	declared := func(name string) bool { return name == "seq" || name == "other" }
	for text, want := range map[string]string{
		"SELECT NEXT VALUE FOR seq":     "SELECT N AS `NEXT VALUE FOR seq`",
		"select nextval(seq);":          "select N AS `nextval(seq)`;",
		"SELECT NEXTVAL ( `seq` ) AS n": "SELECT N AS n",
		"INSERT INTO t VALUES (NEXT VALUE\nFOR seq, 1), (nextval(other), 2)": "INSERT INTO t VALUES (N, 1), (N, 2)",
		"SET @x = NEXTVAL(seq)":              "SET @x = N",
		"SELECT NEXT VALUE FOR unknown":      "",
		"SELECT NEXT VALUE FOR db.seq":       "",
		"SELECT 'NEXT VALUE FOR seq'":        "",
		"SELECT \"it''s \\\" NEXTVAL(seq)\"": "",
		"SELECT 1 -- NEXTVAL(seq)":           "",
		"SELECT 1 # NEXTVAL(seq)":            "",
		"SELECT /* NEXTVAL(seq) */ 1":        "",
		"SELECT `NEXTVAL(seq)`":              "",
		"SELECT f.NEXTVAL(seq)":              "",
		"SELECT xnextval(seq)":               "",
		"SELECT NEXTVAL(seq":                 "",
		"SELECT NEXT VALUE FOR":              "",
		"FETCH NEXT FROM seq":                "",
	} {
		calls, _ := findCalls(text, declared)
		if len(calls) == 0 {
			if want != "" {
				t.Errorf("%s: no call is found", text)
			}
			continue
		}
		for i := range calls {
			calls[i].number = "N"
		}
		if got := string(replaceCalls(text, calls)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A place that is looked at for many rows must not get one number for all.
func TestOnePlaceOneNumber(t *testing.T) {
	all := func(string) bool { return true }
	for text, want := range map[string]bool{
		"SELECT NEXTVAL(s)":                                               true,
		"SELECT NEXTVAL(s), NEXTVAL(s)":                                   true,
		"SET @a = NEXTVAL(s)":                                             true,
		"INSERT INTO t (a) VALUES (NEXTVAL(s)), (NEXTVAL(s))":             true,
		"SELECT NEXTVAL(s) FROM t":                                        false,
		"INSERT INTO t SELECT NEXTVAL(s) FROM u":                          false,
		"UPDATE t SET a = NEXTVAL(s)":                                     false,
		"DELETE t WHERE a = NEXTVAL(s)":                                   false,
		"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = NEXTVAL(s)": false,
		"WITH x AS (SELECT 1) SELECT NEXTVAL(s)":                          false,
		"CREATE PROCEDURE p() SELECT NEXTVAL(s)":                          false,
	} {
		calls, words := findCalls(text, all)
		if len(calls) == 0 {
			t.Errorf("%s: no call is found", text)
		}
		if got := eachOnce(words); got != want {
			t.Errorf("%s: %v (%s)", text, got, strings.Join(words, " "))
		}
	}
}
