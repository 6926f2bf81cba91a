package stmt

import (
	"strings"
	"testing"
)

// TestValueCalls checks that VALUE(column) is read as VALUES(column), and that the word keeps its meaning elsewhere.
func TestValueCalls(t *testing.T) {
	for _, tail := range []string{
		"note = VALUE(note)",
		"note = concat(VALUE(note), VALUES(note), value /* x */ ( t.`note` ), Value(n), 'value(b)', v0000)",
		"value = VALUE(value), t.value = ifnull(value, VALUE(`value`))",
	} {
		for _, head := range []string{
			"insert into t (n, note, value) value (1, 2, 3), (4, 5, 6) on duplicate key update ",
			"insert into t set n = 1, value = 2 on duplicate key update ",
			"insert into t (n, note, value) select 1, n, value from other on duplicate key update ",
		} {
			for _, end := range []string{"", " returning n, value"} {
				with := lexed(head+tail+end, 0)
				node, _, err := nodes(with)
				if err != nil {
					t.Errorf("%s: %v", with.Text, err)
					continue
				}
				same := strings.NewReplacer("VALUE(", "VALUES(", "value /* x */ (", "values(", "Value(", "values(", "'value", "'value").Replace(tail)
				want, _, err := nodes(lexed(head+same+end, 0))
				if err != nil {
					t.Fatalf("%s: %v", head+same+end, err)
				}
				if !alike(node, want) {
					t.Errorf("%s is not read as %s", with.Text, head+same+end)
				}
			}
		}
	}
}

// TestNoValueCalls checks texts in which VALUE is no function of a column.
func TestNoValueCalls(t *testing.T) {
	for _, text := range []string{
		"insert into t (a) values (1) on duplicate key update a = value(a, 1)",
		"insert into t (a) values (1) on duplicate key update a = value(1)",
		"insert into t (a) values (1) on duplicate key update a = value()",
		"insert into t (a) values (1) on duplicate key update a = value(a) + value(1)",
		"insert into t (a) values (1) on duplicate key update a = (select 1 from value (a))",
		"insert into t (a) values (value(a))",
		"update t set a = value(a)",
	} {
		if s, err := Parse(lexed(text, 0)); err == nil {
			t.Errorf("%s was read: %+v", text, s.Insert)
		}
	}
}
