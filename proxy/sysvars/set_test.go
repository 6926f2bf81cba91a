package sysvars

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/router/plan"
	"locus/router/stmt"
)

// The settings after a SET, the assignments that the shard gets, and the refused ones.
func TestSet(t *testing.T) {
	for _, test := range []struct {
		text    string
		answers map[string]*backend.Rows
		want    string // the settings
		said    string // the assignments for which the shard returns warnings
		refused string
	}{
		{text: "SET tmp_table_size = 1024", want: "tmp_table_size=1024", said: "tmp_table_size = 1024"},
		{text: "SET time_zone = '+00:00', div_precision_increment = DEFAULT", want: "time_zone='+00:00' div_precision_increment=DEFAULT", said: "time_zone = '+00:00', div_precision_increment = DEFAULT"},
		{text: "SET max_sort_length = 1 + 7", answers: map[string]*backend.Rows{"SELECT 1 + 7": row("8")}, want: "max_sort_length='8'", said: "max_sort_length = '8'"},
		{text: "SET max_sort_length = (SELECT 1)", answers: map[string]*backend.Rows{"SELECT (SELECT 1)": row("1", "2")}, refused: "another number of them"},
		{text: "SET GLOBAL tmp_table_size = 1", refused: "set it on every shard"},
		{text: "SET pseudo_thread_id = 1", refused: "can't be set through the proxy"},
		{text: "SET version = 'mine'", refused: "read only variable"},

		{text: "SET autocommit = OFF", want: "autocommit=0"},
		{text: "SET autocommit = 1"},
		{text: "SET autocommit = 2", refused: "autocommit"},
		{text: "SET insert_id = 'x'", refused: "Incorrect argument type"},
		{text: "SET last_insert_id = 1 + 1", refused: "Incorrect argument type"},
		{text: "SET locus_read = nowhere", refused: "use primary, replica or session"},
		{text: "SET locus_partial = always", refused: "use on or off"},
		{text: "SET locus_partial = ON"},

		{text: "SET wait_timeout = 'soon'", refused: "Incorrect argument type"},
		{text: "SET net_write_timeout = 5, session_track_gtids = 'OFF'"},

		{text: "SET binlog_format = 'ROW'", answers: map[string]*backend.Rows{"SELECT @@binlog_format": row("ROW")}},
		{text: "SET completion_type = NO_CHAIN", answers: map[string]*backend.Rows{"SELECT @@completion_type": row("0")}},
		{text: "SET sql_log_bin = 0", answers: map[string]*backend.Rows{"SELECT @@sql_log_bin": row("1")}, refused: "only to what it is on the shards: '1'"},
		{text: "SET sql_log_bin = DEFAULT"},
		{text: "SET session_track_transaction_info = OFF"},
		{text: "SET session_track_transaction_info = STATE", refused: "leave it OFF"},

		{text: "SET brand_new = 1", answers: map[string]*backend.Rows{"SELECT @@session.brand_new": row("0")}, refused: "doesn't know what it does"},
		{text: "SET brand_new = 1", refused: "Unknown by the server"},
		{text: "SET `böse` = 1", refused: "Unknown system variable"},

		{text: "SET NAMES latin1 COLLATE latin1_bin", want: "names latin1 latin1_bin", said: "NAMES latin1 COLLATE latin1_bin"},
		{text: "SET NAMES DEFAULT", want: "names utf8mb4", said: "NAMES utf8mb4"},
		{text: "SET NAMES gbk", refused: "can't be read safely"},
		{text: "SET CHARACTER SET latin1", answers: map[string]*backend.Rows{"SELECT @@collation_database": row("utf8mb4_bin")}, want: "character_set_client='latin1' character_set_results='latin1' collation_connection='utf8mb4_bin'", said: "CHARACTER SET 'latin1'"},
		{text: "SET character_set_client = DEFAULT", answers: map[string]*backend.Rows{"SELECT @@GLOBAL.character_set_client": row("utf8mb4")}, want: "character_set_client='utf8mb4'", said: "character_set_client = 'utf8mb4'"},
		{text: "SET character_set_client = klingon", refused: "Unknown character set"},
		{text: "SET character_set_client = ucs2", refused: "Unknown character set"},
		{text: "SET character_set_client = 8", refused: "write its name"},
		{text: "SET character_set_connection = ucs2", want: "character_set_connection='ucs2'", said: "character_set_connection = 'ucs2'"},

		{text: "SET @a = 1, @`b c` = 'it''s'", want: "@a=1 @`b c`=_utf8mb4 X'69742773'"},
		{text: "SET @a = CONCAT('a', 'b')", answers: map[string]*backend.Rows{computing("CONCAT('a', 'b')"): row("ab", "6162", "utf8mb4", "utf8mb4_bin")}, want: "@a=_utf8mb4 X'6162' COLLATE utf8mb4_bin"},
	} {
		f := &fakeShard{answers: test.answers, refuses: map[string]error{
			"SET SESSION brand_new = DEFAULT": errors.New("Unknown by the server"),
		}}
		next, err := assign(t, newState(f), test.text, Transaction{})
		switch {
		case test.refused != "":
			if err == nil || !strings.Contains(err.Error(), test.refused) {
				t.Errorf("%s: %v, want %q", test.text, err, test.refused)
			}
		case err != nil:
			t.Errorf("%s: %v", test.text, err)
		default:
			want := strings.TrimSpace(test.want)
			if names, is := strings.CutPrefix(want, "names "); is {
				charset, collation := next.Settings.Names()
				if got := strings.TrimSpace(charset + " " + collation); got != names {
					t.Errorf("%s: names %q", test.text, got)
				}
			} else if got := variablesOf(next.Settings); got != want {
				t.Errorf("%s: %q, want %q", test.text, got, want)
			}
			if got := strings.Join(next.assignments, ", "); got != test.said {
				t.Errorf("%s: the shard hears %q, want %q", test.text, got, test.said)
			}
		}
	}
}

func computing(expression string) string {
	return "SELECT v, HEX(v), CHARSET(v), COLLATION(v) FROM (SELECT " + expression + " AS v) AS t"
}

// The values of a SET that the session keeps itself.
func TestSetOfTheSessionsOwn(t *testing.T) {
	s := newState(&fakeShard{})
	for _, text := range []string{
		"SET insert_id = 7, last_insert_id = 9, locus_read = 'replica', locus_context = 'area=010&branch=6541'", "SET wait_timeout = 30, max_execution_time = 1500",
	} {
		if err := take(t, s, text, nil); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if s.ForcedID != 7 || s.InsertID != 9 || s.Reads != Replica || s.Context.Values["branch"] != "6541" || s.IdleLimit() != 30*time.Second || s.TimeLimit() != 1500*time.Millisecond {
		t.Errorf("%+v", s.Values)
	}
	if err := take(t, s, "SET locus_read = 'Session'", nil); err != nil || s.Reads != OwnReplica {
		t.Errorf("locus_read = 'Session': %v, %v", err, s.Reads)
	}
	for text, on := range map[string]bool{"SET autocommit = 0": false, "SET autocommit = 0, autocommit = 1": true} {
		if err := take(t, s, text, nil); err != nil || s.Autocommit != on {
			t.Errorf("%s: %v, %v", text, err, s.Autocommit)
		}
		if _, carried := s.Settings.Lookup(autocommit); carried == on {
			t.Errorf("%s: connections carry it: %v", text, carried)
		}
	}
	before := s.Values
	if err := take(t, s, "SET wait_timeout = DEFAULT, locus_read = 'primary', locus_context = DEFAULT, max_statement_time = 2, max_execution_time = 0", nil); err != nil {
		t.Fatal(err)
	}
	if s.IdleLimit() != 0 || s.Reads != Primary || s.Context.text != "" || s.TimeLimit() != 2*time.Second {
		t.Errorf("%+v", s.Values)
	}
	if _, kept := s.ignored["wait_timeout"]; kept {
		t.Error("SET wait_timeout = DEFAULT keeps a value")
	}
	if before.IdleLimit() != 30*time.Second {
		t.Error("a SET changed the values that were there before")
	}
}

func TestWhatAnswersAreBoundedBy(t *testing.T) {
	for text, want := range map[string][2]bool{ // whether rows are limited, and whether transactions read only
		"SET sql_select_limit = 5": {true, false}, "SET sql_select_limit = DEFAULT": {}, "SET sql_select_limit = 18446744073709551615": {},
		"SET SESSION TRANSACTION READ ONLY": {false, true}, "SET SESSION TRANSACTION READ WRITE": {},
	} {
		s := newState(&fakeShard{answers: map[string]*backend.Rows{"SELECT 18446744073709551615": number64("18446744073709551615")}})
		if err := take(t, s, text, nil); err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{s.LimitsRows(), s.ReadsOnly()}; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if s.Carry(s.Writing()); s.ReadsOnly() {
			t.Errorf("%s: to write it reads only", text)
		}
	}
}

func TestWhatValuesAreWrittenBy(t *testing.T) {
	for _, test := range []struct {
		set       map[string]string
		setsTime  bool
		zone      string
		quotesUTF bool
	}{
		{nil, false, "", true},
		{map[string]string{"timestamp": "1.5", "time_zone": "'utc'"}, true, "UTC", true},
		{map[string]string{"timestamp": "0", "time_zone": "'SYSTEM'"}, false, "", true},
		{map[string]string{"timestamp": "DEFAULT", "time_zone": "DEFAULT"}, false, "", true},
		{map[string]string{"time_zone": "'+01:00'", "character_set_connection": "'latin1'"}, false, "+01:00", false},
		{map[string]string{"character_set_connection": "'utf8mb4'"}, false, "", true},
		{map[string]string{"character_set_client": "'latin1'"}, false, "", false},
	} {
		s := newState(&fakeShard{})
		for name, literal := range test.set {
			s.Carry(s.Settings.With(name, literal))
		}
		if s.SetsTime() != test.setsTime || s.TimeZone() != test.zone || s.QuotesUTF8() != test.quotesUTF {
			t.Errorf("%v: %v, %q, %v", test.set, s.SetsTime(), s.TimeZone(), s.QuotesUTF8())
		}
	}
	s := newState(&fakeShard{})
	if got := variablesOf(WithTime(s.Settings, time.Unix(12, 34_567_000))); got != "timestamp=12.034567" {
		t.Error(got)
	}
}

func TestCharacteristics(t *testing.T) {
	for _, test := range []struct {
		text        string
		is          flavor.Flavor
		transaction Transaction
		want        []stmt.Characteristic
		settings    string
		refused     uint16
	}{
		{text: "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY", want: []stmt.Characteristic{
			{What: "isolation", Next: true, Clause: "ISOLATION LEVEL READ COMMITTED"}, {What: "read_only", Next: true, Clause: "READ ONLY"},
		}},
		{text: "SET TRANSACTION READ WRITE", transaction: Transaction{Active: true, Running: true}, refused: mysql.ER_CANT_CHANGE_TX_CHARACTERISTICS},
		{text: "SET tx_isolation = 'READ-COMMITTED'", is: flavor.MariaDB, want: []stmt.Characteristic{{What: "isolation"}}, settings: "tx_isolation='READ-COMMITTED'"},
		{text: "SET tx_isolation = 'READ-COMMITTED'", want: []stmt.Characteristic{{What: "isolation"}}, settings: "transaction_isolation='READ-COMMITTED'"},
		{
			text: "SET transaction_read_only = ON", transaction: Transaction{Running: true},
			want: []stmt.Characteristic{{What: "read_only", Clause: "READ WRITE"}}, settings: "transaction_read_only=1",
		},
	} {
		f := &fakeShard{is: test.is, answers: map[string]*backend.Rows{"SELECT @@transaction_read_only": row("0")}}
		next, err := assign(t, newState(f), test.text, test.transaction)
		if test.refused != 0 {
			if e, ok := errors.AsType[*mysql.MyError](err); !ok || e.Code != test.refused {
				t.Errorf("%s: %v", test.text, err)
			}
			continue
		}
		if err != nil || !slices.Equal(next.Characteristics, test.want) || variablesOf(next.Settings) != test.settings {
			t.Errorf("%s: %v, %+v", test.text, err, next)
		}
	}
}

// A change of a variable is applied on a connection, and reverted there.
func TestIncrementalVariables(t *testing.T) {
	f := &fakeShard{answers: map[string]*backend.Rows{"SELECT @@optimizer_switch": row("mrr=on,x=off")}}
	s := newState(f)
	if err := take(t, s, "SET optimizer_switch = 'mrr=off'", nil); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"SELECT @@optimizer_switch", "SET optimizer_switch = 'mrr=off'", "SELECT @@optimizer_switch", "SET optimizer_switch = 'mrr=on,x=off'",
		"SET optimizer_switch = 'mrr=on,x=off'", // the fake's value is unchanged
	}
	if !slices.Equal(f.heard, want) || variablesOf(s.Settings) != "optimizer_switch='mrr=on,x=off'" {
		t.Errorf("%q, %s", f.heard, variablesOf(s.Settings))
	}
	f.refuses = map[string]error{"SET optimizer_switch = 'mrr=maybe'": errors.New("no such flag")}
	if err := take(t, s, "SET optimizer_switch = 'mrr=maybe'", nil); err == nil {
		t.Error("a refused change was taken")
	}
}

// Assignments by functions within a SET are kept.
func TestSetLearnsWhatItsValuesAssign(t *testing.T) {
	s := newState(&fakeShard{})
	next := s.Set(Transaction{})
	s.Carry(s.Settings.With("@made", "1").With("@both", "1")) // as a function in an expression assigns them
	next.Settings = next.Settings.With("@both", "2")
	next.Finish()
	if got := variablesOf(next.Settings); got != "@both=2 @made=1" {
		t.Error(got)
	}
}

func TestModes(t *testing.T) {
	for said, want := range map[string]stmt.Mode{"ANSI_QUOTES": stmt.AnsiQuotes, "": 0, "NO_BACKSLASH_ESCAPES": stmt.NoBackslash} {
		s := newState(&fakeShard{answers: map[string]*backend.Rows{"SELECT @@sql_mode": row(said)}})
		if err := take(t, s, "SET sql_mode = 'whatever'", nil); err != nil || s.Mode != want {
			t.Errorf("%q: %v, mode %b", said, err, s.Mode)
		}
		if err := take(t, s, "SET NAMES latin1", nil); err != nil || s.Mode != want|stmt.NotUTF8 || !s.Foreign || s.Charset() != "latin1" {
			t.Errorf("%q, latin1: %v, mode %b", said, err, s.Mode)
		}
	}
	s := newState(&fakeShard{answers: map[string]*backend.Rows{"SELECT @@sql_mode": row("EMPTY_STRING_IS_NULL")}})
	if err := take(t, s, "SET sql_mode = 'EMPTY_STRING_IS_NULL'", nil); err == nil || s.Settings != backend.Default {
		t.Errorf("%v", err)
	}
}

// Each variable has one place in the table. A variable that routing accepts for one statement is one that a session can set.
func TestEachVariableHasOnePlace(t *testing.T) {
	seen := map[string]int{}
	for name := range special {
		seen[name]++
	}
	for _, list := range byClass {
		for name := range strings.FieldsSeq(list) {
			seen[name]++
		}
	}
	for name, n := range seen {
		if n > 1 {
			t.Errorf("%s has %d places", name, n)
		}
	}
	n := 0
	for name, class := range All() {
		if n++; !Classified(name) || class.String() == "not known" {
			t.Errorf("%s is of class %v", name, class)
		}
	}
	if n < 200 || Classified("names") || Classified("nothing_like_it") || !HidesPath("datadir") || HidesPath("version") {
		t.Errorf("%d variables", n)
	}
	for _, list := range []map[string]bool{stmt.ForOneStatement, plan.OnOneShard} {
		for name := range list {
			if variables[name].class != Applied {
				t.Errorf("%s can be set for one statement, and for a session it is %v", name, variables[name].class)
			}
		}
	}
}
