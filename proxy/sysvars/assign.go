package sysvars

import (
	"strconv"
	"strings"

	"locus/proxy/backend"
	"locus/router"
	"locus/router/stmt"
)

// How variables are assigned: what takes the literal, or the value as it was written.

// setApplied carries a variable to every connection that serves the session; whether it exists and takes the value is the
// server's to say.
func setApplied(s *Set, v stmt.Variable, literal string) error {
	s.carry(v.Name, literal)
	return nil
}

// longestTimeout is the greatest value in seconds that servers take for a timeout: a year.
const longestTimeout = 365 * 24 * 60 * 60

// setIgnored remembers a variable that is about the connection to the client.
func setIgnored(s *Set, v stmt.Variable, literal string) error {
	timeout := strings.HasSuffix(v.Name, "_timeout")
	if !timeout && !strings.HasPrefix(v.Name, "net_") || literal == defaultValue {
		s.ignore(v.Name, literal)
		return nil
	}
	n, err := strconv.ParseInt(literal, 10, 64)
	if err != nil {
		return wrongType(v.Name)
	}
	if timeout {
		n = min(max(n, 1), longestTimeout) // as servers do
	}
	s.ignore(v.Name, strconv.FormatInt(n, 10))
	return nil
}

// setEqual lets a variable be set to the value that it has on the shards.
func setEqual(s *Set, v stmt.Variable, literal string) error {
	if literal == defaultValue {
		return nil
	}
	have, err := s.state.Compute(s.Settings, "@@"+v.Name)
	if err != nil {
		return err
	}
	if !strings.EqualFold(switched(have), switched(literal)) {
		return cantSet("variable '%s' can't be set to %s through the proxy, only to what it is on the shards: %s", v.Name, literal, have)
	}
	return nil
}

const autocommit = "autocommit"

func setAutocommit(s *Set, _ stmt.Variable, literal string) error {
	switch strings.ToLower(unquote(literal)) {
	case "1", "on", "default", "true":
		s.Autocommit, s.Settings = true, s.Settings.Without(autocommit)
	case "0", "off", "false":
		s.Autocommit, s.Settings = false, s.Settings.With(autocommit, "0")
	default:
		return wrongValue("Variable 'autocommit' can't be set to the value of '%s'", literal)
	}
	return nil
}

func takeInsertID(s *Set, v stmt.Variable) (err error) {
	s.InsertID, err = integer(v)
	return err
}

func takeForcedID(s *Set, v stmt.Variable) (err error) {
	s.ForcedID, err = integer(v)
	return err
}

// integer gives a value that has to be a number.
func integer(v stmt.Variable) (uint64, error) {
	n, ok := v.Value.Integer()
	if !ok { // an expression among them
		return 0, wrongType(v.Name)
	}
	return n.Bits(), nil
}

func setPartial(s *Set, _ stmt.Variable, literal string) error {
	switch strings.ToLower(unquote(literal)) {
	case "on", "1":
		s.Partial = true
	case "off", "0", "default":
		s.Partial = false
	default:
		return wrongValue("Variable 'locus_partial' can't be set to the value of %s: use on or off", literal)
	}
	return nil
}

// setShard names a shard, or with nothing none. Whether there is one of that name isn't known here.
func setShard(s *Set, _ stmt.Variable, literal string) error {
	s.Shard = router.ShardName(unquote(literal))
	if isDefault(literal) || literal == "NULL" {
		s.Shard = ""
	}
	return nil
}

func setContext(s *Set, _ stmt.Variable, literal string) (err error) {
	s.Context, err = readContext(literal)
	return err
}

// setTransactionTracking takes OFF alone: what the transactions of several shards have read and written is not told.
func setTransactionTracking(_ *Set, _ stmt.Variable, literal string) error {
	switch strings.ToUpper(unquote(literal)) {
	case "OFF", "0", defaultValue:
		return nil
	}
	return cantSet("session_track_transaction_info: the proxy does not track the state of transactions; leave it OFF")
}

// setMode notes that texts are read otherwise from then on.
func setMode(s *Set, v stmt.Variable, literal string) error {
	s.mode = true
	return setApplied(s, v, literal)
}

// setProfiling has a server that would have the second SET in its profile told once: it warns of nothing.
func setProfiling(s *Set, v stmt.Variable, literal string) error {
	if !s.state.flavor().ProfilesSet() {
		return setApplied(s, v, literal)
	}
	s.Settings = s.Settings.With(v.Name, literal)
	return nil
}

// setIncremental assigns a variable that takes changes of what it has: the whole value that a change leads to is carried, so that
// a fresh connection can be given it.
func setIncremental(s *Set, v stmt.Variable, literal string) (err error) {
	if literal != defaultValue {
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
