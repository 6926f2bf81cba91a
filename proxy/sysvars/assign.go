package sysvars

import (
	"strconv"
	"strings"

	"locus/proxy/backend"
	"locus/router"
	"locus/router/stmt"
)

// Functions that assign a variable. One kind gets the value as a literal, the other as it was written.

// setApplied sets a variable on every connection that serves the session. The server decides whether the variable exists and the value is valid.
func setApplied(s *Set, v stmt.Variable, literal string) error {
	s.carry(v.Name, literal)
	return nil
}

// longestTimeout is the largest timeout in seconds that servers accept: a year.
const longestTimeout = 365 * 24 * 60 * 60

// setIgnored records a variable that concerns the connection to the client.
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
		n = min(max(n, 1), longestTimeout) // servers limit the value too
	}
	s.ignore(v.Name, strconv.FormatInt(n, 10))
	return nil
}

// setEqual accepts only the value that the variable has on the shards.
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

// integer returns a value that must be an integer.
func integer(v stmt.Variable) (uint64, error) {
	n, ok := v.Value.Integer()
	if !ok { // an expression is refused too
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

// setShard sets the shard of locus_shard, or none for an empty value. Whether a shard of that name exists is not known here.
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

// setTransactionTracking accepts only OFF, because the proxy does not report the reads and writes of transactions on several shards.
func setTransactionTracking(_ *Set, _ stmt.Variable, literal string) error {
	switch strings.ToUpper(unquote(literal)) {
	case "OFF", "0", defaultValue:
		return nil
	}
	return cantSet("session_track_transaction_info: the proxy does not track the state of transactions; leave it OFF")
}

// setMode records that texts are parsed differently from now on.
func setMode(s *Set, v stmt.Variable, literal string) error {
	s.mode = true
	return setApplied(s, v, literal)
}

// setProfiling avoids a second SET where it would appear in the server's profile. Then it does not collect the warnings of the assignment, which
// gives none.
func setProfiling(s *Set, v stmt.Variable, literal string) error {
	if !s.state.flavor().ProfilesSet() {
		return setApplied(s, v, literal)
	}
	s.Settings = s.Settings.With(v.Name, literal)
	return nil
}

// setIncremental assigns a variable whose values are changes of its previous value. Connections get the complete resulting value, so that a new
// connection can get it too.
func setIncremental(s *Set, v stmt.Variable, literal string) (err error) {
	if literal != defaultValue {
		literal, err = s.effective(v.Name, literal)
	}
	if err == nil {
		s.carry(v.Name, literal)
	}
	return err
}

// effective returns the value that a change of a variable leads to, as a constant. It assigns the change on a connection, and then the previous
// value.
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
			_, err = c.Exec("SET " + name + " = " + before) // the connection may stay with the session
		}
		if err != nil {
			c.Note(backend.State)
		}
		return err
	})
	return value, err
}

// valueOf returns the value of a variable on a connection as a constant.
func valueOf(c Conn, name string) (string, error) {
	rows, err := c.Query("SELECT @@" + name)
	if err != nil {
		return "", err
	}
	return backend.Quote(string(rows.Rows[0][0])), nil
}
