package sysvars

import (
	"fmt"

	"locus/proxy/backend"
	"locus/proxy/flavor"
)

// State contains the settings of a session, and the diagnostics of its statements. Only the session's goroutine uses it.
type State struct {
	Values
	Diagnostics
	Tracking
	Commands Counters
	shard    Shard
}

// New returns the state of a session that has set nothing.
func New(shard Shard) State { return State{shard: shard} }

// Reset sets the values of a new login, and clears the rest.
func (s *State) Reset(v Values) {
	s.Values, s.Diagnostics, s.reported, s.Commands = v, Diagnostics{}, "", Counters{}
}

func (s *State) flavor() flavor.Flavor { return s.shard.Flavor() }

// Try applies settings to a connection, so that the server can refuse them.
func (s *State) Try(settings *backend.Settings) error {
	return s.shard.On(settings, func(Conn) error { return nil })
}

// Ask sends the shard a small query that leaves no state, with the session's settings.
func (s *State) Ask(text string) (*backend.Rows, error) { return s.ask(text, backend.Nothing) }

func (s *State) ask(text string, leaves backend.Leaves) (rows *backend.Rows, err error) {
	err = s.shard.On(s.Settings, func(c Conn) (err error) {
		c.Note(leaves)
		rows, err = c.Query(text)
		return err
	})
	return rows, err
}

// Compute returns the value of an expression as a constant.
func (s *State) Compute(settings *backend.Settings, expression string) (string, error) {
	rows, err := s.shard.Compute(settings, "SELECT "+expression)
	if err != nil {
		return "", err
	}
	if len(rows.Rows) != 1 || len(rows.Rows[0]) != 1 {
		return "", wrongValue("SET needs one value, and %q gives another number of them", expression)
	}
	return constant(rows.Rows[0][0], rows.Columns[0].Type), nil
}

// ComputeValue is Compute for a user variable. It loses nothing of the value.
func (s *State) ComputeValue(expression string) (string, error) {
	rows, err := s.shard.Compute(s.Settings, "SELECT "+valueFields("v")+" FROM (SELECT "+expression+" AS v) AS t")
	if err != nil {
		return "", err
	}
	if !hasValues(rows, 1) {
		return "", fmt.Errorf("compute %s: the shard has answered with %d rows of %d columns", expression, len(rows.Rows), len(rows.Columns))
	}
	return valueLiteral(rows, 0, 0), nil
}

// constant returns a value of an answer as a constant.
func constant(value []byte, columnType byte) string {
	switch {
	case value == nil:
		return "NULL"
	case numeric(columnType):
		return string(value)
	}
	return backend.Quote(string(value))
}
