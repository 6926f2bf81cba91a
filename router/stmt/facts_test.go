package stmt

import (
	"reflect"
	"testing"
)

// factsOf returns the facts of a text. If the parser can't read the text, they come from its words.
func factsOf(t *testing.T, text string, mode Mode) Facts {
	t.Helper()
	var l Lexed
	l.Lex([]byte(text), mode)
	s, err := Parse(&l)
	if err != nil {
		s = &Statement{}
		if word := (&lexemeReader{l: &l, list: l.lexemes(1)}).verb(); word == "HANDLER" || word == "XA" {
			s.Kind = map[string]Kind{"HANDLER": Handler, "XA": XA}[word]
		}
		l.Note(s)
	}
	return s.Facts
}

func tables(names ...string) (list []TableName) {
	for i := 0; i+1 < len(names); i += 2 {
		list = append(list, TableName{names[i], names[i+1]})
	}
	return list
}

func TestFacts(t *testing.T) {
	for _, test := range []struct {
		text string
		want Facts
	}{
		{"/* app=web */ CREATE TEMPORARY TABLE tt (x INT)", Facts{Verb: "CREATE", Created: tables("", "tt")}},
		{"create temporary table if not exists `a``b`.`t t` select 1", Facts{Verb: "CREATE", Effects: Copies, Created: tables("a`b", "t t")}},
		{"create or replace temporary table s.tt (x inet6)", Facts{Verb: "CREATE", Effects: Commits, Created: tables("s", "tt")}}, // the parser can't read it, and the planner sets its kind
		{"set statement max_statement_time = 1 for create temporary table tt (x int)", Facts{Verb: "CREATE", Effects: Commits, Created: tables("", "tt")}},
		{"create table c select 1", Facts{Verb: "CREATE", Effects: Commits | Copies}},
		{"create or replace table c select 1", Facts{Verb: "CREATE", Effects: Commits | Copies}},
		{"create table selected (x int)", Facts{Verb: "CREATE", Defines: true, Effects: Commits}},
		{"create view v as select 1", Facts{Verb: "CREATE", Defines: true, Effects: Commits}},
		{"# x\ndrop table if exists tt, s.`uu`", Facts{Verb: "DROP", Defines: true, Effects: Commits, Dropped: tables("", "tt", "s", "uu")}},
		{"drop view v", Facts{Verb: "DROP", Defines: true, Effects: Commits}},
		{"drop temporary sequence a, b", Facts{Verb: "DROP", Effects: Commits, Dropped: tables("", "a", "", "b")}},
		{"rename table a to b, s.c to d", Facts{Verb: "RENAME", Defines: true, Effects: Commits, Renamed: tables("", "a", "s", "c")}},
		{"rename table if exists a to b, s.c to d", Facts{Verb: "RENAME", Effects: Commits, Defines: true, Renamed: tables("", "a", "s", "c")}},
		{"alter table a rename to b", Facts{Verb: "ALTER", Defines: true, Effects: Commits, Renamed: tables("", "a")}},
		{"alter table a add column x int", Facts{Verb: "ALTER", Defines: true, Effects: Commits}},
		{"begin work;", Facts{Verb: "BEGIN", Opening: &Opening{}}},
		{"start transaction", Facts{Verb: "START", Opening: &Opening{}}},
		{"start/**/transaction -- x\n with consistent snapshot, read only", Facts{Verb: "START", Opening: &Opening{ReadOnly, true}}},
		{"start  transaction\tread write", Facts{Verb: "START", Opening: &Opening{ReadWrite, false}}},
		{"savepoint `A b``c`;", Facts{Verb: "SAVEPOINT", Mark: &Mark{"savepoint", "A b`c"}}},
		{"rollback work to savepoint x", Facts{Verb: "ROLLBACK", Mark: &Mark{"rollback", "x"}}},
		{"rollback to savepoint", Facts{Verb: "ROLLBACK", Mark: &Mark{"rollback", "savepoint"}}},
		{"release savepoint x", Facts{Verb: "RELEASE", Mark: &Mark{"release", "x"}}},
		{"handler s.t open as h", Facts{Verb: "HANDLER", Handling: &Handling{"open"}}},
		{"handler `open` close", Facts{Verb: "HANDLER", Handling: &Handling{"close"}}},
		{"handler h read first where x = 1", Facts{Verb: "HANDLER", Handling: &Handling{"read"}}},
		{"xa begin 'a', x'62', 3 join", Facts{Verb: "XA", Branch: &XABranch{Verb: "start", Names: []string{"a", "b"}, Named: true}}},
		{"xa commit 0x6c6f one phase", Facts{Verb: "XA", Branch: &XABranch{Verb: "commit", Names: []string{"lo"}, Named: true}}},
		{"xa start concat('a')", Facts{Verb: "XA", Branch: &XABranch{Verb: "start"}}},
		{"xa recover format = 'sql'", Facts{Verb: "XA", Branch: &XABranch{Verb: "recover", Named: true, Shape: "FORMAT='SQL'"}}},
		{"show create table t", Facts{Verb: "SHOW", Effects: TellsOfOne}},
		{"describe grants", Facts{Verb: "DESCRIBE"}},
		{"(((select release_all_locks())))", Facts{Verb: "SELECT", Effects: ReleasesAllLocks}},
		{"select 'release_all_locks()'", Facts{Verb: "SELECT"}},
		{"call p()", Facts{Verb: "CALL", Effects: MayEnd}},
		{"do release_all_locks()", Facts{Verb: "DO", Effects: ReleasesAllLocks}},
		{"analyze table t", Facts{Verb: "ANALYZE", Effects: Commits}},
		{"analyze format=json update t set x = 1", Facts{Verb: "EXPLAIN"}},
		{"set statement sort_buffer_size = 100000 for select 1", Facts{Verb: "SELECT"}},
		{"signal sqlstate '45000'", Facts{Verb: "SIGNAL", Effects: MayEnd}},
	} {
		if got := factsOf(t, test.text, 0); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s\n gives %+v\n want  %+v", test.text, got, test.want)
		}
	}
}
