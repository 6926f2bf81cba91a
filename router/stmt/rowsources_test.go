package stmt

import "testing"

// TestRowSources checks how tables that are no tables are read, and that nothing is concluded from their columns.
func TestRowSources(t *testing.T) {
	for _, text := range []string{
		"select a from t join (values (1), (2, 3)) as v on a = v.`1`",
		"with v(b) as (values (1), (2)) select a from t join v on a = b",
		"select a from t where a in (values (1), (2))",
		"select a from t union values (1) order by 1",
		"select * from (select s, o from t) as x(o, s) where o = 1",
		"select * from t, json_table(concat('[', t.o, ']'), '$[*]' columns (o int path '$')) j",
		"select * from t join json_table('[1]', '$' columns (o int path '$')) as `j` on t.a=j.o",
	} {
		l := lexed(text, 0)
		s, err := Parse(l)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, b := range s.Blocks {
			for _, table := range b.Tables {
				if table.Derived && table.Source != nil && len(table.Source.Tables) > 0 {
					t.Errorf("%s: the columns of %s are taken for those of %v", text, table.Alias, table.Source.Tables)
				}
			}
		}
		if len(l.laid().readable) != len(text) {
			t.Errorf("%s is read as %s", text, l.laid().readable)
		}
		if _, err := FindPlaces(lexed(text, 0)); err != nil {
			t.Errorf("%s: its tables have no places: %v", text, err)
		}
	}
}

// TestNoRowSources checks texts that are read as before, or not at all.
func TestNoRowSources(t *testing.T) {
	for _, text := range []string{
		"insert into t (a) values (1) on duplicate key update a = coalesce(values(a), 0) +",
		"select a from (select 1) regexp (a)",
		"select a from t, (select 1) as x() where 1",
		"select a from t, (select 1) as x(1) where 1",
		"select a from (t) as x(a)",
		"select json_table(a, '$' columns (b int path '$')) from t",
		"select a from json_table('[1]' columns (b int path '$')) j",
		"select a from json_table('[1]', '$' columns (b int path '$'))",
		"create view v as select * from json_table('[1]', '$' columns (b int path '$')) j",
	} {
		if s, err := Parse(lexed(text, 0)); err == nil {
			t.Errorf("%s was read: %s", text, picture(s))
		}
	}
}
