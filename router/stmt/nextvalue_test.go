package stmt

import "testing"

func TestNextValues(t *testing.T) {
	declared := func(name string) bool { return name == "seq" || name == "other" }
	for text, want := range map[string]string{
		"SELECT NEXT VALUE FOR seq":                                          "SELECT N AS `NEXT VALUE FOR seq`",
		"select nextval(seq);":                                               "select N AS `nextval(seq)`;",
		"SELECT NEXTVAL ( `seq` ) AS n":                                      "SELECT N AS n",
		"SELECT -NEXTVAL(seq)":                                               "SELECT -N",
		"SELECT NEXTVAL(seq), nextval(other) , NEXT VALUE FOR seq":           "SELECT N AS `NEXTVAL(seq)`, N AS `nextval(other)` , N AS `NEXT VALUE FOR seq`",
		"SELECT 1, NEXTVAL(seq), NEXTVAL(seq) n, 'x'":                        "SELECT 1, N AS `NEXTVAL(seq)`, N n, 'x'",
		"SELECT NEXTVAL(seq) 'n', NEXTVAL(other)":                            "SELECT N 'n', N AS `NEXTVAL(other)`",
		"SELECT 'x' NEXTVAL(seq), 1":                                         "SELECT 'x' N, 1",
		"SELECT 1, 'x' + NEXTVAL(seq), 2":                                    "SELECT 1, 'x' + N, 2",
		"SELECT CONCAT(1, NEXTVAL(seq), 2), NEXTVAL(seq) LIMIT 1":            "SELECT CONCAT(1, N, 2), N AS `NEXTVAL(seq)` LIMIT 1",
		"SELECT NEXTVAL(seq) FROM dual":                                      "SELECT N AS `NEXTVAL(seq)` FROM dual",
		"SELECT DISTINCT NEXTVAL(seq)":                                       "SELECT DISTINCT N",
		"SELECT NEXTVAL(seq) + 1":                                            "SELECT N + 1",
		"INSERT INTO t VALUES (NEXT VALUE\nFOR seq, 1), (nextval(other), 2)": "INSERT INTO t VALUES (N, 1), (N, 2)",
		"SET @x = NEXTVAL(seq)":                                              "SET @x = N",
		"SELECT NEXT /* of it */ VALUE FOR seq, 1":                           "SELECT N AS `NEXT /* of it */ VALUE FOR seq`, 1",
		"SELECT NEXT VALUE FOR unknown":                                      "",
		"SELECT NEXT VALUE FOR db.seq":                                       "",
		"SELECT NEXTVAL(db.seq)":                                             "",
		"SELECT 'NEXT VALUE FOR seq'":                                        "",
		"SELECT \"it''s \\\" NEXTVAL(seq)\"":                                 "",
		"SELECT 1 -- NEXTVAL(seq)":                                           "",
		"SELECT 1 # NEXTVAL(seq)":                                            "",
		"SELECT /* NEXTVAL(seq) */ 1":                                        "",
		"SELECT `NEXTVAL(seq)`":                                              "",
		"SELECT f.NEXTVAL(seq)":                                              "",
		"SELECT @nextval":                                                    "",
		"SELECT xnextval(seq)":                                               "",
		"SELECT NEXTVAL('seq')":                                              "",
		"SELECT NEXTVAL(seq":                                                 "",
		"SELECT NEXT VALUE FOR":                                              "",
		"FETCH NEXT FROM seq":                                                "",
	} {
		if got := numbered(text, 0, declared); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// The session's sql_mode determines which quoted texts are strings and which are names.
func TestNextValuesByMode(t *testing.T) {
	any := func(string) bool { return true }
	for _, c := range []struct {
		text string
		mode Mode
		want string
	}{
		{`INSERT INTO t VALUES ('a\', 'NEXTVAL(seq)')`, NoBackslash, ""},
		{`INSERT INTO t VALUES ('a\', NEXTVAL(seq), 'b')`, NoBackslash, `INSERT INTO t VALUES ('a\', N, 'b')`},
		{`INSERT INTO t VALUES ('a\', NEXTVAL(seq), ')`, 0, ""},
		{`SELECT "NEXTVAL(seq)"`, AnsiQuotes, ""},
		{`SELECT NEXTVAL("seq"), 1`, AnsiQuotes, "SELECT N AS `NEXTVAL(\"seq\")`, 1"},
	} {
		if got := numbered(c.text, c.mode, any); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

// numbered replaces all places with N, as the proxy does. It returns an empty string if there are none.
func numbered(text string, mode Mode, declared func(string) bool) string {
	var l Lexed
	l.Lex([]byte(text), mode)
	places, _ := l.NextValues(declared)
	if len(places) == 0 {
		return ""
	}
	out, from := "", 0
	for _, p := range places {
		out += text[from:p.Start] + "N"
		if p.Item {
			out += " AS `" + text[p.Start:p.End] + "`"
		}
		from = p.End
	}
	return out + text[from:]
}

// An expression that the server evaluates for many rows must not get the same number for all of them.
func TestOnePlaceOneNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT NEXTVAL(s)":             true,
		"SELECT NEXTVAL(s), NEXTVAL(s)": true,
		"SET @a = NEXTVAL(s)":           true,
		"DO NEXTVAL(s)":                 true,

		"INSERT INTO t (a) VALUES (NEXTVAL(s)), (NEXTVAL(s))":             true,
		"SELECT NEXTVAL(s) FROM t":                                        false,
		"SELECT NEXTVAL(s) FROM dual":                                     true,
		"SELECT NEXTVAL(s), 1 FROM DUAL WHERE 1 = 1":                      true,
		"SELECT NEXTVAL(s) FROM `dual`":                                   false,
		"INSERT INTO t SELECT NEXTVAL(s) FROM dual":                       false,
		"SELECT NEXTVAL(s) FROM dual UNION SELECT a FROM t":               false,
		"INSERT INTO t SELECT NEXTVAL(s) FROM u":                          false,
		"UPDATE t SET a = NEXTVAL(s)":                                     false,
		"DELETE t WHERE a = NEXTVAL(s)":                                   false,
		"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = NEXTVAL(s)": false,
		"WITH x AS (SELECT 1) SELECT NEXTVAL(s)":                          false,
		"CREATE PROCEDURE p() SELECT NEXTVAL(s)":                          false,
	} {
		var l Lexed
		l.Lex([]byte(text), 0)
		places, once := l.NextValues(func(string) bool { return true })
		if len(places) == 0 || once != want {
			t.Errorf("%s: %d places, looked at once: %v", text, len(places), once)
		}
	}
}

func BenchmarkNoNextValues(b *testing.B) {
	var l Lexed
	l.Lex([]byte("SELECT * FROM test_order WHERE buyer_uid = 42 AND status = 'new' ORDER BY created_at DESC LIMIT 10"), 0)
	b.ReportAllocs()
	for b.Loop() {
		if places, _ := l.NextValues(func(string) bool { return true }); places != nil {
			b.Fatal(places)
		}
	}
}
