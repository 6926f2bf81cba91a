package stmt

import (
	"reflect"
	"testing"
)

func TestLocks(t *testing.T) {
	for text, want := range map[string]struct {
		locks []LockTable
		wait  string
	}{
		"lock tables t as x read local, `s`.`u``v` y LOW_PRIORITY write": {[]LockTable{{TableName{"", "t"}, "x", "READ LOCAL"}, {TableName{"s", "u`v"}, "y", "LOW_PRIORITY WRITE"}}, ""},
		"lock table t low_priority write /* c */ nowait;":                {[]LockTable{{TableName{"", "t"}, "", "LOW_PRIORITY WRITE"}}, " NOWAIT"},
		"lock tables t write concurrent, u x read wait 5":                {[]LockTable{{TableName{"", "t"}, "", "WRITE CONCURRENT"}, {TableName{"", "u"}, "x", "READ"}}, " WAIT 5"},
		"lock tables t read":              {[]LockTable{{TableName{"", "t"}, "", "READ"}}, ""},
		"lock tables t":                   {},
		"lock tables t read u":            {},
		"lock tables t low_priority read": {},
		"lock tables t read wait":         {},
		"lock tables t read wait 1 2":     {},
		"lock tables t read,":             {},
		"lock tables t as 'x' read":       {},
	} {
		s, err := Parse(lexed(text, 0))
		if want.locks == nil {
			if err == nil {
				t.Errorf("%s is read as %+v", text, s.LockTables)
			}
			continue
		}
		if err != nil || s.Kind != Lock || !reflect.DeepEqual(s.LockTables, want.locks) || s.LockWait != want.wait || len(s.Tables) != len(want.locks) || s.Effects != Commits {
			t.Errorf("%s: %v, %+v", text, err, s)
		}
	}
}

// TestFilling checks where the query of a temporary table is found.
func TestFilling(t *testing.T) {
	for text, want := range map[string][2]string{
		"create temporary table n select 1":                                                                                      {"select 1", ""},
		"create temporary table if not exists s.n (a int, key (a)) ignore as select a from t":                                    {"select a from t", ""},
		"create temporary table `table` as (select a from t limit 3) -- x":                                                       {"(select a from t limit 3)", ""},
		"create temporary table n (a int default (1)) comment 'select' with x as (select 1 limit 1) select * from x limit 2, 3;": {"with x as (select 1 limit 1) select * from x limit 2, 3", "limit 2, 3"},
		"create temporary table n as select a from t order by a fetch first 2 rows only":                                         {"select a from t order by a fetch first 2 rows only", "fetch first 2 rows only"},
		"create temporary table n table t":                                                                                       {"table t", ""},
		"create temporary table n (a int)":                                                                                       {},
		"create table n (a int) select 1 from t":                                                                                 {},
	} {
		l := lexed(text, 0)
		s, err := Parse(l)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got [2]string
		if f := s.Filling; f != nil {
			got[0] = string(l.Text[l.Offset(f.Query.Start):l.Offset(f.Query.End)])
			if f.Limit != nil {
				got[1] = string(l.Text[l.Offset(*f.Limit):l.Offset(f.Query.End)])
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
