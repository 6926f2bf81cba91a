package sysvars

import (
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router/stmt"
)

// Tracking is what a client is told of its session: the next OK tells one with CLIENT_SESSION_TRACK what its statement changed. What
// is to be told is set by session_track_…, which are variables like others and carried to the shards, so that their values can be
// read and wrong ones are refused there.
type Tracking struct {
	Tracks  bool   // the client wants to be told
	changes []byte // what the next OK tells, as wire.NextChange reads it
	told    string // the state of its transaction that it was told last; empty: that there is none
}

// Told takes what is to be told, which is then told.
func (t *Tracking) Told() (changes []byte) {
	changes, t.changes = t.changes, nil
	return changes
}

// trackedByDefault is session_track_system_variables of both engines.
const trackedByDefault = "time_zone,autocommit,character_set_client,character_set_results,character_set_connection"

// tracked reads a session_track_… variable that is on or off.
func (s *State) tracked(name string, otherwise bool) bool {
	literal, ok := s.Settings.Lookup(name)
	if !ok || isDefault(unquote(literal)) {
		return otherwise
	}
	return switched(literal) == "1"
}

// TrackSchema notes that the database is another one, or the same once more.
func (s *State) TrackSchema() {
	if s.Tracks && s.tracked("session_track_schema", true) {
		s.changes = wire.AppendTextChange(s.changes, mysql.SESSION_TRACK_SCHEMA, []byte(s.Settings.Database()))
	}
	s.trackChange()
}

// trackChange notes that something changed, whatever it is.
func (s *State) trackChange() {
	if s.Tracks && s.tracked(trackStateChange, false) {
		s.changes = wire.AppendTextChange(s.changes, mysql.SESSION_TRACK_STATE_CHANGE, []byte("1"))
	}
}

const trackStateChange = "session_track_state_change"

// TrackVariables notes what a SET has assigned.
func (s *State) TrackVariables(assigned []stmt.Variable) {
	if !s.Tracks {
		return
	}
	var names []string
	for _, v := range assigned {
		for _, name := range s.assignedNames(v) {
			if s.tracksVariable(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) > 0 {
		s.trackValues(names)
	}
	if s.flavor().ReportsItsTracking() || !slices.ContainsFunc(assigned, func(v stmt.Variable) bool { return v.Name == trackStateChange }) {
		s.trackChange()
	}
}

// assignedNames are the system variables that one assignment changes.
func (s *State) assignedNames(v stmt.Variable) []string {
	if v.User || v.NextOnly {
		return nil
	}
	if changes := variables[v.Name].changes; changes != nil {
		return changes
	}
	return []string{s.flavor().Characteristic(v.Name)}
}

func (s *State) tracksVariable(name string) bool {
	list, ok := s.Settings.Lookup("session_track_system_variables")
	if list = strings.ToLower(unquote(list)); !ok || list == "default" {
		list = trackedByDefault
	}
	for tracked := range strings.SplitSeq(list, ",") {
		if tracked = strings.TrimSpace(tracked); tracked == "*" || tracked == name {
			return true
		}
	}
	return false
}

// trackValues asks a shard for the variables as they are now: it knows what DEFAULT
// and utf8 stand for. What it does not tell is left out.
func (s *State) trackValues(names []string) {
	if len(names) == 1 && names[0] == autocommit {
		s.changes = wire.AppendVariableChange(s.changes, []byte(autocommit), onOff(s.Autocommit))
		return
	}
	rows, err := s.Ask("SELECT @@" + strings.Join(names, ", @@"))
	if err != nil || len(rows.Rows) != 1 || len(rows.Columns) != len(names) {
		return
	}
	for i, name := range names {
		value := rows.Rows[0][i]
		if name == autocommit {
			value = onOff(s.Autocommit)
		}
		s.changes = wire.AppendVariableChange(s.changes, []byte(name), value)
	}
}

func onOff(on bool) []byte {
	if on {
		return []byte("ON")
	}
	return []byte("OFF")
}

// The states of a transaction that are told: of those that session_track_transaction_info
// asks for, only which there are.
const (
	NotBegun     = "________"
	Begun        = "T_______"
	BegunReading = "T_R_____" // WITH CONSISTENT SNAPSHOT
)

// TellsTransactions tells whether the client is told that a transaction was begun or ended.
func (s *State) TellsTransactions() bool { return s.Tracks && s.flavor().ReportsTransactions() }

// Restate notes that a transaction has ended and the next one begun: something
// changed, though the state is what it was.
func (s *State) Restate() {
	if s.TellsTransactions() && s.changes == nil {
		s.changes = []byte{}
	}
}

// TrackTransaction notes the state of the transaction, if the client is told.
func (s *State) TrackTransaction(state string) { s.changes = s.AppendState(s.changes, state) }

// Knows tells whether a state is what the client was told last.
func (t *Tracking) Knows(state string) bool {
	return state == t.told || state == NotBegun && t.told == ""
}

// InTransaction tells whether the client was told of one that is open.
func (t *Tracking) InTransaction() bool { return t.told != "" && t.told != NotBegun }

// AppendState tells a state that the client doesn't know.
func (t *Tracking) AppendState(changes []byte, state string) []byte {
	if t.Knows(state) {
		return changes
	}
	t.told = state
	return wire.AppendTextChange(changes, mysql.SESSION_TRACK_TRANSACTION_STATE, []byte(state))
}
