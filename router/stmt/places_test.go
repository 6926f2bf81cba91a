package stmt

import "testing"

func TestFindPlaces(t *testing.T) {
	for _, text := range []string{
		"SELECT DISTINCT c FROM (SELECT x1.owner AS c FROM visit AS x1) d",
		"SELECT 1 FROM DUAL WHERE EXISTS (SELECT 1 FROM account)",
		"SELECT x1.*, x1.b FROM account x1",
	} {
		var l Lexed
		l.Lex([]byte(text), 0)
		for _, f := range l.tableNames() {
			t.Logf("%q", text[f.start:f.end])
		}
		_, err := FindPlaces(&l)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
