package stmt

import "testing"

// TestMedians checks MariaDB's window functions, and texts in which their names mean something else.
func TestMedians(t *testing.T) {
	for text, reads := range map[string]bool{
		"select median(a) over (partition by b) from t":                                                    true,
		"select percentile_cont(0.5) within group (order by a) over (partition by b) from t":               true,
		"select percentile_disc ( 0.5 ) within /* x */ group ( order by a + 1 desc ) over () m from t":     true,
		"select median(a) over () + percentile_cont(0.5) within group (order by a asc) over () from t":     true,
		"select percentile_cont(0.5) over () from t":                                                       false,
		"select percentile_cont(0.5) within group (order by a, b) over () from t order by":                 false,
		"select median(a) over from t":                                                                     false,
		"select 'median(a) over ()' from t where percentile_cont(0.5) within group (order by a) over (( )": false,
	} {
		l := lexed(text, 0)
		s, err := Parse(l)
		if (err == nil) != reads {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if reads && (s.Features&Windows == 0 || len(l.laid().readable) != len(text)) {
			t.Errorf("%s is read as %s", text, l.laid().readable)
		}
		if reads {
			if places, err := FindPlaces(lexed(text, 0)); err != nil || !places.Names["a"] {
				t.Errorf("%s: its places are not known: %v", text, err)
			}
		}
	}
	if _, s := parsed(t, "select grouping(a) from t group by a with rollup"); s.Features&UnknownFunction != 0 {
		t.Error("GROUPING() is not known")
	}
	if _, s := parsed(t, "select s.grouping(a) from t group by a with rollup"); s.Features&UnknownFunction == 0 {
		t.Error("a stored function is taken for GROUPING()")
	}
}
