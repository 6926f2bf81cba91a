package stmt

import "testing"

func TestKill(t *testing.T) {
	for text, want := range map[string]Killing{
		"KILL 5":                            {ID: 5},
		"kill connection 12 ;":              {ID: 12},
		"KILL QUERY 4294967295":             {ID: 4294967295, Query: true},
		"/* mysql */ KILL QUERY /* it */ 7": {ID: 7, Query: true},
		"KILL HARD QUERY 7":                 {ID: 7, Query: true},
		"KILL SOFT CONNECTION 7":            {ID: 7},
		"KILL SOFT 7":                       {ID: 7},
		"KILL QUERY connection_id()":        {Own: true, Query: true},
		"KILL @a":                           {Expression: "@A"},
		"KILL QUERY -1":                     {Expression: "-1", Query: true},
		"KILL '7'":                          {Expression: "'7'"},

		"KILL\n\tCONNECTION\n18446744073709551615": {ID: 18446744073709551615},
	} {
		var l Lexed
		l.Lex([]byte(text), 0)
		s, err := Parse(&l)
		if err != nil || s.Kind != Kill || s.Kill == nil || *s.Kill != want {
			t.Errorf("%q: %+v, %v, want %+v", text, s, err, want)
		}
	}
	for _, text := range []string{"KILL USER bob", "KILL QUERY ID 5", "KILL 5, 6", "KILL f(5)", "KILL (SELECT 5)", "KILL CONNECTION_ID() + 0", "KILL ?", "KILL", "KILL HARD"} {
		var l Lexed
		l.Lex([]byte(text), 0)
		if s, err := Parse(&l); err == nil && s.Kill != nil {
			t.Errorf("%q is read as %+v", text, s.Kill)
		}
	}
}
