package sysvars

import (
	"strings"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// How the variables are assigned that have a way of their own.

const autocommit = "autocommit"

func setAutocommit(s *Set, v stmt.Variable) error {
	literal, err := s.literal(v)
	if err != nil {
		return err
	}
	switch strings.ToLower(unquote(literal)) {
	case "1", "on", "default", "true":
		s.Autocommit = true
		s.Settings = s.Settings.Without(autocommit)
	case "0", "off", "false":
		s.Autocommit = false
		s.Settings = s.Settings.With(autocommit, "0")
	default:
		return wrongValue("Variable 'autocommit' can't be set to the value of '%s'", literal)
	}
	return nil
}

func setInsertID(s *Set, v stmt.Variable) (err error) {
	s.InsertID, err = integer(v)
	return err
}

func setForcedID(s *Set, v stmt.Variable) (err error) {
	s.ForcedID, err = integer(v)
	return err
}

func setRead(s *Set, v stmt.Variable) error {
	literal, err := s.literal(v)
	if err != nil {
		return err
	}
	switch strings.ToLower(unquote(literal)) {
	case "replica":
		s.Late = true
	case "primary", "default":
		s.Late = false
	default:
		return wrongValue("Variable 'locus_read' can't be set to the value of %s: use primary or replica", literal)
	}
	return nil
}

func setContext(s *Set, v stmt.Variable) error {
	literal, err := s.literal(v)
	if err == nil {
		s.Context, err = readContext(literal)
	}
	return err
}

// setTransactionTracking takes OFF alone: what the transactions of several shards have read and written is not told.
func setTransactionTracking(s *Set, v stmt.Variable) error {
	literal, err := s.literal(v)
	if err != nil {
		return err
	}
	switch strings.ToUpper(unquote(literal)) {
	case "OFF", "0", defaultValue:
		return nil
	}
	return cantSet("session_track_transaction_info: the state of transactions is not told through the proxy; leave it OFF")
}

// setMode notes that texts are read otherwise from then on.
func setMode(s *Set, v stmt.Variable) error {
	s.mode = true
	return setApplied(s, v)
}

// setProfiling has a server that would have the second SET in its profile told once: it warns of nothing.
func setProfiling(s *Set, v stmt.Variable) error {
	if !s.state.flavor().ProfilesSet() {
		return setApplied(s, v)
	}
	literal, err := s.literal(v)
	if err == nil {
		s.Settings = s.Settings.With(v.Name, literal)
	}
	return err
}

// setIncremental assigns a variable that takes changes of what it has: the whole value that a change leads to is carried, so that
// a fresh connection can be given it.
func setIncremental(s *Set, v stmt.Variable) error {
	literal, err := s.literal(v)
	if err == nil && literal != defaultValue {
		literal, err = s.effective(v.Name, literal)
	}
	if err == nil {
		s.carry(v.Name, literal)
	}
	return err
}

func (s *Set) effective(name, change string) (value string, err error) {
	err = s.state.shard.On(s.state.Settings, func(c Conn) error {
		before, err := valueOf(c, name)
		if err != nil {
			return err
		}
		if _, err := c.Exec("SET " + name + " = " + change); err != nil {
			return err
		}
		if value, err = valueOf(c, name); err == nil {
			_, err = c.Exec("SET " + name + " = " + before) // the connection may stay the session's
		}
		if err != nil {
			c.Note(backend.State)
		}
		return err
	})
	return value, err
}

// valueOf gives a variable's value on a connection as a constant.
func valueOf(c Conn, name string) (string, error) {
	rows, err := c.Query("SELECT @@" + name)
	if err != nil {
		return "", err
	}
	return backend.Quote(string(rows.Rows[0][0])), nil
}
