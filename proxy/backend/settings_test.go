package backend

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestEqualSettingsAreOnePointer(t *testing.T) {
	a := Default.WithDatabase("shop").With("SQL_MODE", "'ANSI'").With("@x", "5")
	b := Default.With("sql_mode", "''").With("@X", "1").With("sql_mode", "'ANSI'").With("@x", "5").WithDatabase("shop")
	if a != b {
		t.Errorf("made two ways, %q and %q are two pointers", a.key(), b.key())
	}
	if c := a.With("@x", "6"); c == a {
		t.Error("another value, the same pointer")
	}
	if d := a.Without("@x").Without("sql_mode"); d != Default.WithDatabase("shop") {
		t.Errorf("taking everything away gives %v", d)
	}
	if Default.With("a", "1").With("b", "2") == Default.With("a", "11").With("b", "2") {
		t.Error("different values, the same pointer")
	}
}

func TestKeyIsUnambiguous(t *testing.T) {
	if Default.With("a", "1:b1:2") == Default.With("a", "1").With("b", "2") {
		t.Error("one literal reads as two assignments")
	}
}

func TestSettingsDontChange(t *testing.T) {
	a := Default.With("a", "1").With("b", "2")
	before := a.key()
	a.With("a", "3")
	a.Without("b")
	a.With("c", "4")
	a.WithNames("latin1", "")
	if a.key() != before {
		t.Errorf("was %q, is %q", before, a.key())
	}
}

func TestTheTableForgetsWhatNobodyHolds(t *testing.T) {
	before := interned.len()
	for i := range 1000 {
		Default.With("@number", strconv.Itoa(i))
	}
	kept := Default.With("@kept", "1")
	for range 100 {
		runtime.GC()
		if interned.len() <= before+2 {
			break
		}
		runtime.Gosched()
	}
	if n := interned.len(); n > before+2 {
		t.Errorf("%d settings before, %d after 1000 were dropped", before, n)
	}
	if Default.With("@kept", "1") != kept {
		t.Error("settings that are held were forgotten")
	}
}

// Large values are held once, by the settings themselves.
func TestLongSettingsHaveShortKeys(t *testing.T) {
	value := Quote(strings.Repeat("x", 1<<20))
	long := Default.With("@long", value)
	if n := len(long.key()); n > spelled {
		t.Errorf("the key has %d bytes", n)
	}
	if Default.With("@LONG", value) != long {
		t.Error("equal settings are two pointers")
	}
	if other := Default.With("@long", Quote(strings.Repeat("x", 1<<20-1)+"y")); other == long || other.key() == long.key() {
		t.Error("different values, the same pointer")
	}
}

func TestParsingLeavesUserVariablesOut(t *testing.T) {
	plain := Default.WithDatabase("shop").With("sql_mode", "'ANSI'")
	if plain.parsing("SELECT 1") != plain || plain.With("@x", "1").parsing("SELECT 1") != plain || plain.With("@x", "2").parsing("SELECT 1") != plain {
		t.Error("user variables change what a text means")
	}
	if plain.WithDatabase("other").With("@x", "1").parsing("SELECT 1") == plain {
		t.Error("another database, the same meaning")
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":        "''",
		"ANSI":    "'ANSI'",
		"it's":    "_utf8mb4 X'69742773'",
		`back\`:   "_utf8mb4 X'6261636b5c'",
		"é":       "_utf8mb4 X'c3a9'",
		"a\x00b":  "_utf8mb4 X'610062'",
		`"double`: `'"double'`,
	} {
		if got := Quote(text); got != want {
			t.Errorf("Quote(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestParsingKeepsTypesOfUserVariables(t *testing.T) {
	const sql = "SELECT @a"
	number := Default.With("@a", "1").With("@b", "_utf8mb4 X'41' COLLATE utf8mb4_bin")
	for _, same := range []*Settings{Default.With("@b", "_utf8mb4 X'' COLLATE utf8mb4_bin").With("@a", "-23"), Default.With("@a", "0").With("@b", "_utf8mb4 X'' COLLATE utf8mb4_bin")} {
		if same.parsing(sql) != number.parsing(sql) {
			t.Errorf("%v is read otherwise", same.Assignments())
		}
	}
	for _, literal := range []string{"NULL", "1.5", "1e0", "18446744073709551615", "'a'", "_latin1'a'", "'", "CONVERT(NULL USING latin1) COLLATE latin1_bin"} {
		other := number.With("@a", literal)
		if other.parsing(sql) == number.parsing(sql) || other.parsing("SELECT @@a, @@b") != number.parsing("") {
			t.Errorf("%s is read as a number", literal)
		}
	}
}

func TestTransitions(t *testing.T) {
	shop := Default.WithDatabase("shop")
	ansi := shop.With("sql_mode", "'ANSI'")
	for _, c := range []struct {
		about      string
		have, want *Settings
		steps      transition
	}{
		{"nothing to do", ansi, ansi, transition{}},
		{"after login", atLogin, Default, transition{set: "SET NAMES utf8mb4"}},
		{"after login, all at once", atLogin, ansi, transition{database: "shop", set: "SET NAMES utf8mb4, sql_mode='ANSI'"}},
		{"only the database", ansi.WithDatabase("other"), ansi, transition{database: "shop"}},
		{"one more variable", ansi, ansi.With("@x", "1"), transition{set: "SET @x=1"}},
		{"another value", ansi, shop.With("sql_mode", "''"), transition{set: "SET sql_mode=''"}},
		{"one too many", ansi.With("@x", "1"), ansi, transition{reset: true, database: "shop", set: "SET NAMES utf8mb4, sql_mode='ANSI'"}},
		{"some too many, which have a default", ansi.With("autocommit", "0").With("time_zone", "'+01:00'"), ansi, transition{set: "SET autocommit=DEFAULT, time_zone=DEFAULT"}},
		{"one for another", ansi, shop.With("a", "1"), transition{set: "SET a=1, sql_mode=DEFAULT"}},
		{"in another database", ansi, Default.WithDatabase("other"), transition{database: "other", set: "SET sql_mode=DEFAULT"}},
		{"one too many of which that isn't known", ansi.With("a", "1"), shop, transition{reset: true, database: "shop", set: "SET NAMES utf8mb4"}},
		{"another order", shop.With("a", "1").With("b", "2"), shop.With("b", "2").With("a", "1"), transition{set: "SET a=1"}},
		{"names leave the others", shop.With("a", "1"), shop.With("a", "1").WithNames("latin1", ""), transition{set: "SET NAMES latin1"}},
		{"what was set before another", shop.With("a", "1").With("b", "2").With("c", "3"), shop.With("a", "1").With("c", "3").With("b", "4"), transition{set: "SET b=4"}},
		{
			"names touch later variables",
			shop.With("character_set_results", "NULL"),
			shop.WithNames("latin1", "latin1_bin").With("character_set_results", "NULL"),
			transition{set: "SET NAMES latin1 COLLATE latin1_bin, character_set_results=NULL"},
		},
		{"unknown", nil, shop, transition{reset: true, database: "shop", set: "SET NAMES utf8mb4"}},
	} {
		database := ""
		if c.have != nil {
			database = c.have.database
		}
		if got := between(c.have, database, c.want); got != c.steps {
			t.Errorf("%s: %+v, want %+v", c.about, got, c.steps)
		}
	}
}

func TestNoWayBackToNoDatabase(t *testing.T) {
	if reaches("shop", Default) || !reaches("", Default) || !reaches("shop", Default.WithDatabase("other")) {
		t.Error("a connection can get from anywhere to a database, and from none to none, only")
	}
}

// A SET of many variables creates one list of assignments per variable, and computes nothing from the lists
// before they are needed.
func TestSettingsAreDerivedWhenNeeded(t *testing.T) {
	s := Default
	for i := range 1000 {
		s = s.With(fmt.Sprintf("@a%d", i), strconv.Itoa(i))
	}
	n := 0
	allocations := testing.AllocsPerRun(20, func() {
		n++
		s.With("@b", strconv.Itoa(n))
	})
	if allocations > 50 {
		t.Errorf("%v allocations for one variable beside 1000 others", allocations)
	} else {
		t.Logf("%v allocations", allocations)
	}
	if typed := s.typed(); typed != s.With("@a7", "8").typed() || len(typed.variables) != len(s.variables) || s.bare() != Default {
		t.Errorf("with types alone there are %d variables, and without user variables %s", len(typed.variables), s.bare())
	}
}
