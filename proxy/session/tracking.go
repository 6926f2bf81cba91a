package session

import (
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// Session tracking: the next OK tells a client with CLIENT_SESSION_TRACK what its
// statement changed. What is to be told is set by session_track_…, which are
// variables like others and carried to the shards, so that their values can be
// read and wrong ones are refused there.

// trackedByDefault is session_track_system_variables of both engines.
const trackedByDefault = "time_zone,autocommit,character_set_client,character_set_results,character_set_connection"

func (s *Session) tracks() bool { return s.capabilities&mysql.CLIENT_SESSION_TRACK != 0 }

// tracked reads a session_track_… variable that is on or off.
func (s *Session) tracked(name string, otherwise bool) bool {
	literal, ok := s.settings.Lookup(name)
	if !ok {
		return otherwise
	}
	switch strings.ToUpper(strings.Trim(literal, "'")) {
	case "1", "ON", "TRUE":
		return true
	case "DEFAULT":
		return otherwise
	}
	return false
}

// trackSchema notes that the database is another one, or the same once more.
func (s *Session) trackSchema() {
	if s.tracks() && s.tracked("session_track_schema", true) {
		s.changes = wire.AppendTextChange(s.changes, mysql.SESSION_TRACK_SCHEMA, []byte(s.settings.Database()))
	}
	s.trackChange()
}

// trackChange notes that something changed, whatever it is.
func (s *Session) trackChange() {
	if s.tracks() && s.tracked("session_track_state_change", false) {
		s.changes = wire.AppendTextChange(s.changes, mysql.SESSION_TRACK_STATE_CHANGE, []byte("1"))
	}
}

// trackVariables notes what a SET has assigned.
func (s *Session) trackVariables(w *World, assigned []stmt.Variable) {
	if !s.tracks() {
		return
	}
	var names []string
	for _, v := range assigned {
		for _, name := range assignedNames(v, w.Flavor) {
			if s.tracksVariable(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) > 0 {
		s.trackValues(names)
	}
	if w.Flavor.ReportsItsTracking() || !slices.ContainsFunc(assigned, func(v stmt.Variable) bool { return v.Name == "session_track_state_change" }) {
		s.trackChange()
	}
}

// assignedNames are the system variables that one assignment changes.
func assignedNames(v stmt.Variable, f flavor.Flavor) []string {
	switch {
	case v.User, v.NextOnly:
		return nil
	case v.Name == "names" || v.Name == "charset":
		return []string{"character_set_client", "character_set_connection", "character_set_results"}
	}
	return []string{f.Characteristic(v.Name)}
}

func (s *Session) tracksVariable(name string) bool {
	list, ok := s.settings.Lookup("session_track_system_variables")
	if list = strings.ToLower(strings.Trim(list, "'")); !ok || list == "default" {
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
func (s *Session) trackValues(names []string) {
	if len(names) == 1 && names[0] == "autocommit" {
		s.changes = wire.AppendVariableChange(s.changes, []byte(names[0]), onOff(s.autocommit))
		return
	}
	var rows *backend.Rows
	err := s.onFirst(s.settings, func(c *backend.Conn) (err error) {
		rows, err = c.Own().Query(s.ctx, "SELECT @@"+strings.Join(names, ", @@"))
		return err
	})
	if err != nil || len(rows.Rows) != 1 {
		return
	}
	for i, name := range names {
		value := rows.Rows[0][i]
		if name == "autocommit" {
			value = onOff(s.autocommit)
		}
		s.changes = wire.AppendVariableChange(s.changes, []byte(name), value)
	}
}

// The states of a transaction that are told: of those that session_track_transaction_info
// asks for, only which there are.
const (
	notBegun     = "________"
	begun        = "T_______"
	begunReading = "T_R_____" // WITH CONSISTENT SNAPSHOT
)

// tellsTransactions tells whether the client is told that a transaction was begun or ended.
func (s *Session) tellsTransactions() bool { return s.tracks() && s.flavor().ReportsTransactions() }

// trackTransaction notes that a transaction was begun or ended.
func (s *Session) trackTransaction() {
	if s.tellsTransactions() {
		s.changes = s.appendState(s.changes, s.transactionState())
	}
}

// restate notes that a transaction has ended and the next one begun: something
// changed, though the state is what it was.
func (s *Session) restate() {
	if s.tellsTransactions() && s.changes == nil {
		s.changes = []byte{}
	}
}

func (s *Session) appendState(changes []byte, state string) []byte {
	if state == s.toldState || state == notBegun && s.toldState == "" {
		return changes
	}
	s.toldState = state
	return wire.AppendTextChange(changes, mysql.SESSION_TRACK_TRANSACTION_STATE, []byte(state))
}

func (s *Session) transactionState() string {
	switch {
	case s.pins.has(globalTransaction):
		return begun
	case !s.txn.begun:
		return notBegun
	case s.txn.how.Snapshot:
		return begunReading
	}
	return begun
}

// telling is an ending that tells, in the OK of a shard, how a statement leaves the
// transaction; nil if the client knows.
func (s *Session) telling(r *request) ending {
	if !s.tellsTransactions() || s.txn.begun && s.toldState != "" && s.toldState != notBegun && r.plan.Statement.Kind != stmt.XA {
		return nil // in a transaction that it was told of
	}
	state := s.transactionState()
	if r.plan.Statement.Kind == stmt.XA {
		state = stateOfXA(r.plan.Statement.Branch.Verb, state)
	}
	if state == s.toldState || state == notBegun && s.toldState == "" {
		return nil
	}
	return func(dst, packet []byte) ([]byte, error) {
		payload := packet[wire.HeaderSize:]
		if payload[0] != mysql.OK_HEADER {
			return append(dst, packet...), nil
		}
		ok, err := wire.ParseOK(payload, 0)
		if err != nil {
			return nil, err
		}
		ok.Changes = s.appendState(nil, state)
		_, seq := wire.Header(packet)
		dst, _ = wire.AppendOK(dst, seq, ok, s.capabilities)
		return dst, nil
	}
}

// stateOfXA is the state that an XA statement leads to from another one.
func stateOfXA(verb, from string) string {
	switch verb {
	case "start":
		return begun
	case "prepare", "commit", "rollback":
		return notBegun
	}
	return from
}

func onOff(on bool) []byte {
	if on {
		return []byte("ON")
	}
	return []byte("OFF")
}

// assignTransactionTracking takes OFF alone: what the transactions of several
// shards have read and written is not told.
func (s *Session) assignTransactionTracking(next *view, v stmt.Variable) error {
	literal, err := s.literal(v)
	if err != nil {
		return err
	}
	switch strings.ToUpper(strings.Trim(literal, "'")) {
	case "OFF", "0", "DEFAULT":
		return nil
	}
	return fail(erReadOnly, stateGeneral, "session_track_transaction_info: the state of transactions is not told through the proxy; leave it OFF")
}
