package sysvars

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"locus/proxy/backend"
)

// The warnings of a SET are queried once. Then all sessions with the same settings know them.
func TestWarningsOfSetAreKnown(t *testing.T) {
	known := new(SetWarnings)
	const text = "SET tmp_table_size = 1"
	f := &fakeShard{warns: 1, answers: map[string]*backend.Rows{AskWarnings: table([]string{"Warning", "1292", "Truncated"})}}
	for i, want := range [][]string{{text, AskWarnings}, nil} {
		f.heard = nil
		s := newState(f)
		if err := take(t, s, text, known); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f.heard, want) || len(s.Conditions) != 1 || s.Conditions[0].code != "1292" || variablesOf(s.Settings) != "tmp_table_size=1" {
			t.Errorf("session %d: the shard hears %q, %v", i, f.heard, s.Conditions)
		}
	}
	s := newState(f)
	s.Carry(s.Settings.With("sql_notes", "0"))
	if f.heard = nil; take(t, s, text, known) != nil || len(f.heard) != 2 {
		t.Errorf("with sql_notes = 0: %q", f.heard)
	}
	if list, ok := known.lookup(text + ";0;"); !ok || len(list) != 1 {
		t.Errorf("%v, %v", list, ok)
	}
	for range mostSets + 1 { // the cache is limited
		known.remember("SET x = "+utoa(uint64(len(known.known))), nil)
	}
	known.remember(strings.Repeat("x", longestSet+1), nil)
	if len(known.known) > mostSets {
		t.Errorf("%d texts are known", len(known.known))
	}
}

// A SET that a server refuses leaves nothing: neither in the session, nor on connections that were to receive its variables again.
func TestRefusedSet(t *testing.T) {
	refused := errors.New("refused")
	for text, refuses := range map[string]string{
		"SET tmp_table_size = 1":  "SET tmp_table_size = 1",
		"SET tmp_table_size = 2":  "carry tmp_table_size=2",
		"SET tmp_table_size = 3":  AskWarnings,
		"SET @a = 1":              "carry @a=1",
		"SET sql_mode = 'BROKEN'": "SELECT @@sql_mode",
	} {
		f := &fakeShard{code: true, warns: 1, refuses: map[string]error{refuses: refused}}
		if refuses != AskWarnings {
			f.answers = map[string]*backend.Rows{AskWarnings: table([]string{"Warning", "1292", "Truncated"})}
		}
		s := newState(f)
		if err := take(t, s, text, nil); !errors.Is(err, refused) || s.Settings != backend.Default {
			t.Errorf("%s: %v, %s", text, err, variablesOf(s.Settings))
		}
		if want := strings.HasPrefix(refuses, "carry"); (f.undone == 1) != want {
			t.Errorf("%s: undone %d times", text, f.undone)
		}
		if (refuses == text || refuses == AskWarnings) && !slices.Contains(f.noted, backend.State) {
			t.Errorf("%s: the connection is taken for as it was", text)
		}
	}
}

// Variables that stored code may have set are assigned again, even if the session's value is unchanged.
func TestAssignedAnew(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"SET @a = 1, tmp_table_size = 5", []string{"@a", "tmp_table_size"}},
		{"SET NAMES latin1", []string{"names"}},
		{"SET tx_read_only = 0", []string{"tx_read_only", "transaction_read_only"}},
		{"SET autocommit = 1", []string{"autocommit"}},
		{"SET TRANSACTION READ ONLY", nil},
	} {
		f := &fakeShard{code: true}
		next, err := assign(t, newState(f), test.text, Transaction{})
		if err == nil {
			err = next.state.Apply(next, nil)
		}
		if err != nil || !slices.Equal(f.anew, test.want) || next.AssignsAutocommit() != slices.Contains(test.want, autocommit) {
			t.Errorf("%s: %v, anew %q, want %q", test.text, err, f.anew, test.want)
		}
	}
	for _, code := range []bool{true, false} {
		f := &fakeShard{code: code}
		if err := take(t, newState(f), "SET autocommit = 1", nil); err != nil || (f.carried > 0) != code {
			t.Errorf("after stored code: %v; %v, settings were carried %d times", code, err, f.carried)
		}
	}
}

// In a wide character set, no SET is sent as text.
func TestWideCharacterSets(t *testing.T) {
	f := &fakeShard{warns: 1}
	s := newState(f)
	if err := take(t, s, "SET character_set_connection = ucs2", nil); err != nil || len(f.heard) != 0 || !Wide(s.Settings) {
		t.Errorf("%v, %q", err, f.heard)
	}
}

func TestContext(t *testing.T) {
	for literal, want := range map[string]string{
		"'area=010&branch=a%26b'": "a&b", "_utf8mb4 X'6272616E63683D78'": "x", "DEFAULT": "", "''": "",
	} {
		if c, err := readContext(literal); err != nil || c.Values["branch"] != want {
			t.Errorf("%s: %v, %v", literal, c, err)
		}
	}
	for literal, why := range map[string]string{
		"5": "write a text", "'a=1&a=2'": "twice", "'=1'": "missing", "'a;b'": "%XX", "'" + strings.Repeat("x", longestContext+1) + "'": "1024 bytes", "'\xff'": "UTF-8",
	} {
		if _, err := readContext(literal); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.20s: %v", literal, err)
		}
	}
}
