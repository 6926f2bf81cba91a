package sysvars

import (
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/wire"
)

var changeNames = map[byte]string{
	mysql.SESSION_TRACK_SYSTEM_VARIABLES: "variable", mysql.SESSION_TRACK_SCHEMA: "schema", mysql.SESSION_TRACK_STATE_CHANGE: "changed",
	mysql.SESSION_TRACK_TRANSACTION_STATE: "state",
}

// told returns the changes in the next OK: "schema shop, changed 1".
func told(t *testing.T, s *Evaluator) string {
	t.Helper()
	var list []string
	for rest := s.TakeChanges(); len(rest) > 0; {
		c, next, err := wire.NextChange(rest)
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.Text()
		if c.Kind == mysql.SESSION_TRACK_SYSTEM_VARIABLES {
			var name, value []byte
			name, value, err = c.Variable()
			text = []byte(string(name) + " " + string(value))
		}
		if err != nil {
			t.Fatal(err)
		}
		list, rest = append(list, changeNames[c.Kind]+" "+string(text)), next
	}
	return strings.Join(list, ", ")
}

func TestTracking(t *testing.T) {
	answers := map[string]*backend.Rows{
		"SELECT @@character_set_client, @@character_set_connection, @@character_set_results": row("latin1", "latin1", "latin1"),
		"SELECT @@time_zone, @@autocommit":                                                   row("+00:00", "1"),
		"SELECT @@tmp_table_size":                                                            row("1024"),
		"SELECT @@session_track_state_change":                                                row("ON"),
	}
	for _, test := range []struct {
		is         flavor.Flavor
		set        string // before the statement
		text, want string
	}{
		{text: "SET autocommit = 0", want: "variable autocommit OFF"},
		{text: "SET NAMES latin1", want: "variable character_set_client latin1, variable character_set_connection latin1, variable character_set_results latin1"},
		{text: "SET time_zone = '+00:00', autocommit = 1, time_zone = '+00:00'", want: "variable time_zone +00:00, variable autocommit ON"},
		{text: "SET tmp_table_size = 1024"},
		{set: "session_track_system_variables='*'", text: "SET tmp_table_size = 1024", want: "variable tmp_table_size 1024"},
		{set: "session_track_system_variables=''", text: "SET autocommit = 0"},
		{set: "session_track_state_change=1", text: "SET @a = 1", want: "changed 1"},
		{set: "session_track_state_change='DEFAULT'", text: "SET @a = 1"},
		{set: "session_track_system_variables=DEFAULT", text: "SET autocommit = 0", want: "variable autocommit OFF"},
		{text: "SET session_track_state_change = 1"},
		{is: flavor.MariaDB, text: "SET session_track_state_change = 1", want: "changed 1"},
		{text: "SET div_precision_increment = 5, time_zone = 'nowhere'"}, // the shard doesn't answer
	} {
		s := newState(&fakeShard{is: test.is, answers: answers})
		if name, literal, set := strings.Cut(test.set, "="); set {
			s.Carry(s.Settings.With(name, literal))
		}
		for _, tracks := range []bool{true, false} {
			s.Tracks = tracks
			want := test.want
			if !tracks {
				want = ""
			}
			if err := take(t, s, test.text, nil); err != nil {
				t.Fatalf("%s: %v", test.text, err)
			}
			st, _ := parse(t, test.text)
			s.TrackVariables(st.Variables)
			if got := told(t, s); got != want {
				t.Errorf("%s, tracked: %v: %q, want %q", test.text, tracks, got, want)
			}
		}
	}
}

func TestTrackingOfTheSchema(t *testing.T) {
	s := newState(&fakeShard{})
	s.Tracks = true
	s.Carry(s.Settings.WithDatabase("shop"))
	if s.TrackSchema(); told(t, s) != "schema shop" {
		t.Error("the database is not told")
	}
	s.Carry(s.Settings.With("session_track_schema", "'OFF'").With("session_track_state_change", "'ON'"))
	if s.TrackSchema(); told(t, s) != "changed 1" {
		t.Error("not what was asked for is told")
	}
}

// A transaction state is reported once. If a transaction follows another one in the same state, an empty change is reported.
func TestTrackingOfTransactions(t *testing.T) {
	s := newState(&fakeShard{})
	if s.ReportsTransactions() {
		t.Error("a client that does not want to know is told")
	}
	s.Tracks = true
	for _, step := range []struct{ state, want string }{{NotBegun, ""}, {Begun, "state T_______"}, {Begun, ""}, {NotBegun, "state ________"}, {NotBegun, ""}} {
		if known := s.Reported(step.state); known != (step.want == "") {
			t.Errorf("%s is known: %v", step.state, known)
		}
		if s.TrackTransaction(step.state); told(t, s) != step.want {
			t.Errorf("%s is not told as %q", step.state, step.want)
		}
		if s.InTransaction() != (step.state == Begun) {
			t.Errorf("%s: in a transaction: %v", step.state, s.InTransaction())
		}
	}
	if s.Restate(); s.TakeChanges() == nil {
		t.Error("a transaction after another is not told")
	}
	maria := newState(&fakeShard{is: flavor.MariaDB})
	maria.Tracks = true
	if maria.Restate(); maria.ReportsTransactions() || maria.TakeChanges() != nil {
		t.Error("MariaDB tells of no transactions")
	}
}
