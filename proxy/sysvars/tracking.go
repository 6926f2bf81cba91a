package sysvars

import (
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router/stmt"
)

// Tracking contains the changes of a session's state about which its client must be notified. For a client with
// CLIENT_SESSION_TRACK, the next OK contains the changes that its statement made. The variables session_track_… select the
// changes. They are also set on the shards, so that their values can be read and wrong ones are refused.
type Tracking struct {
	Tracks   bool   // the client has CLIENT_SESSION_TRACK
	changes  []byte // for the next OK, in the form that wire.NextChange reads
	reported string // the transaction state that was last reported; empty if none was
}

// TakeChanges returns the changes to report in the next OK packet, and clears them.
func (t *Tracking) TakeChanges() (changes []byte) {
	changes, t.changes = t.changes, nil
	return changes
}

// trackedByDefault is the default of session_track_system_variables in both engines.
const trackedByDefault = "time_zone,autocommit,character_set_client,character_set_results,character_set_connection"

// tracked returns the value of a session_track_… variable that is on or off. otherwise is its default.
func (s *State) tracked(name string, otherwise bool) bool {
	literal, ok := s.Settings.Lookup(name)
	if !ok || isDefault(unquote(literal)) {
		return otherwise
	}
	return switched(literal) == "1"
}

// TrackSchema records a change of the database, possibly to the same one.
func (s *State) TrackSchema() {
	if s.Tracks && s.tracked("session_track_schema", true) {
		s.changes = wire.AppendTextChange(s.changes, mysql.SESSION_TRACK_SCHEMA, []byte(s.Settings.Database()))
	}
	s.trackChange()
}

// trackChange records that something changed.
func (s *State) trackChange() {
	if s.Tracks && s.tracked(trackStateChange, false) {
		s.changes = wire.AppendTextChange(s.changes, mysql.SESSION_TRACK_STATE_CHANGE, []byte("1"))
	}
}

const trackStateChange = "session_track_state_change"

// TrackVariables records the assignments of a SET.
func (e *Evaluator) TrackVariables(assigned []stmt.Variable) {
	if !e.Tracks {
		return
	}
	var names []string
	for _, v := range assigned {
		for _, name := range e.assignedNames(v) {
			if e.tracksVariable(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) > 0 {
		e.trackValues(names)
	}
	if e.flavor().ReportsItsTracking() || !slices.ContainsFunc(assigned, func(v stmt.Variable) bool { return v.Name == trackStateChange }) {
		e.trackChange()
	}
}

// assignedNames returns the system variables that an assignment changes.
func (s *State) assignedNames(v stmt.Variable) []string {
	if v.User || v.NextOnly {
		return nil
	}
	if changes := variables[v.Name].changes; changes != nil {
		return changes
	}
	return []string{s.flavor().Characteristic(v.Name)}
}

// tracksVariable reports whether session_track_system_variables selects a variable.
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

// trackValues records the current values of variables, which it asks from a shard. The shard resolves values such as DEFAULT and utf8. If it does
// not answer, nothing is recorded.
func (e *Evaluator) trackValues(names []string) {
	if len(names) == 1 && names[0] == autocommit {
		e.changes = wire.AppendVariableChange(e.changes, []byte(autocommit), onOff(e.Autocommit))
		return
	}
	rows, err := e.Ask("SELECT @@" + strings.Join(names, ", @@"))
	if err != nil || len(rows.Rows) != 1 || len(rows.Columns) != len(names) {
		return
	}
	for i, name := range names {
		value := rows.Rows[0][i]
		if name == autocommit {
			value = onOff(e.Autocommit)
		}
		e.changes = wire.AppendVariableChange(e.changes, []byte(name), value)
	}
}

func onOff(on bool) []byte {
	if on {
		return []byte("ON")
	}
	return []byte("OFF")
}

// The transaction states that are reported. Of the flags of session_track_transaction_info, they have only those for an open transaction and its
// kind.
const (
	NotBegun     = "________"
	Begun        = "T_______"
	BegunReading = "T_R_____" // WITH CONSISTENT SNAPSHOT
)

// ReportsTransactions reports whether the client is notified of the begin and end of transactions.
func (s *State) ReportsTransactions() bool { return s.Tracks && s.flavor().ReportsTransactions() }

// Restate records that a transaction ended and another one began. The state is the same as before, but an OK must report a change.
func (s *State) Restate() {
	if s.ReportsTransactions() && s.changes == nil {
		s.changes = []byte{}
	}
}

// TrackTransaction records the state of the transaction, if it changed.
func (s *State) TrackTransaction(state string) { s.changes = s.AppendState(s.changes, state) }

// Reported reports whether a state is the last one that the client was notified of.
func (t *Tracking) Reported(state string) bool {
	return state == t.reported || state == NotBegun && t.reported == ""
}

// InTransaction reports whether the client was notified of an open transaction.
func (t *Tracking) InTransaction() bool { return t.reported != "" && t.reported != NotBegun }

// AppendState appends a state to changes, unless the client knows it.
func (t *Tracking) AppendState(changes []byte, state string) []byte {
	if t.Reported(state) {
		return changes
	}
	t.reported = state
	return wire.AppendTextChange(changes, mysql.SESSION_TRACK_TRANSACTION_STATE, []byte(state))
}
