package stmt

import "testing"

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
