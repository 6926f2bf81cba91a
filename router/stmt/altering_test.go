package stmt

import "testing"

// Where a clause may be put that says how an ALTER TABLE is done: « marks it. It says so itself: !.
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
