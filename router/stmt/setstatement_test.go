package stmt

import (
	"fmt"
	"regexp"
	"testing"
)

var slots = regexp.MustCompile(`\$\d+`)

// TestLimitedStatements checks that a statement behind SET STATEMENT … FOR is read as without it, at the places behind it.
func TestLimitedStatements(t *testing.T) {
	for _, prefix := range []string{
		"SET STATEMENT max_statement_time=1 FOR ",
		"set statement max_statement_time = 0.5 for ",
		"/* a */ Set /* b */ Statement # c\n Max_Statement_Time /* for */ = -1.5e3 , optimizer_switch = 'mrr=on, for \\' x', sort_buffer_size=DEFAULT /* d */\nFOR/* e */ ",
	} {
		for _, text := range []string{
			"select a, connection_id() from t where b = 5 and c in (1, 2) order by a limit 3, 4",
			"insert into t (a, b) values (1, 2), (3, 4) as new on duplicate key update b = value(b)",
			"insert into t set a = 1, b = 2",
			"replace into t values (1, 'x')",
			"update t set a = 1 where b = 2 limit 5",
			"delete from t where b = 2 order by c",
			"with x as (select 1 from t) select * from x",
			"(select a from t) union (select b from t) order by 1 limit 2",
			"select a into @x from t where b = 1",
			"insert into t (a) values (1) returning a, b",
		} {
			l, s := parsed(t, prefix+text)
			_, want := parsed(t, text)
			show := func(s *Statement) string {
				return slots.ReplaceAllString(fmt.Sprint(picture(s), s.Kind, s.Verb, s.Features, s.Assigns, s.Hints), "$")
			}
			if show(s) != show(want) {
				t.Errorf("%s: got %s, want %s", l.Text, show(s), show(want))
			}
			for _, at := range placesOf(l, s) {
				if at <= len(prefix) {
					t.Errorf("%s: a place at %d", l.Text, at)
				}
			}
			if len(l.Rows) != len(lexed(text, 0).Rows) {
				t.Errorf("%s: %d rows", l.Text, len(l.Rows))
			}
		}
	}
}

// placesOf returns the places of a statement at which it may be changed.
func placesOf(l *Lexed, s *Statement) (at []int) {
	for _, o := range s.Owned {
		at = append(at, o.Start)
	}
	if s.Insert != nil {
		at = append(at, l.Offset(s.Insert.End), max(l.Offset(s.Insert.ColumnsEnd), l.Offset(s.Insert.SetStart)))
	}
	if s.Kind == Update {
		at = append(at, l.Offset(s.SetClause))
	}
	for _, b := range s.Blocks {
		if b.HasFrom {
			at = append(at, l.Offset(b.From))
		}
		if b.HasFilter {
			at = append(at, l.Offset(b.Filter.Close))
		}
		if b.Limit != nil && !b.Limit.Unplaced {
			at = append(at, l.Offset(b.Limit.Start))
		}
	}
	return at
}

// TestSetStatementOfOtherVariables checks that only a prefix that affects no answer, before a statement on rows, is skipped.
func TestSetStatementOfOtherVariables(t *testing.T) {
	for _, text := range []string{
		"set statement sql_mode = '' for select 1",
		"set statement max_statement_time = 1, time_zone = '+01:00' for select 1",
		"set statement max_statement_time = 1 + 1 for select 1",
		"set statement max_statement_time = @x for select 1",
		"set statement max_statement_time = ? for select 1",
		"set statement max_statement_time = (select 1) for select 1",
		"set statement max_statement_time = for for select 1",
		"set statement max_statement_time = 1 for begin not atomic select 1; end",
		"set statement max_statement_time = 1 for call p()",
		"set statement max_statement_time = 1 for create table t (a int)",
		"set statement max_statement_time = 1 for set statement max_statement_time = 1 for select 1",
		"set statement max_statement_time = 1",
		"set statement = 1",
		"select 1 from (set statement max_statement_time = 1 for select 1)",
	} {
		l := lexed(text, 0)
		if len(l.asides) > 0 {
			t.Errorf("%s: its prefix is skipped", text)
		}
	}
	if l := lexed(`set statement optimizer_switch = "x" for select 1`, AnsiQuotes); len(l.asides) > 0 {
		t.Errorf("%s: its prefix is skipped", l.Text)
	}
}
