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
	flavor   func() flavor.Flavor // of all shards
}

// New returns the state of a session that has set nothing. flavor returns the flavor of all shards.
func New(flavor func() flavor.Flavor) State { return State{flavor: flavor} }

// Reset sets the values of a new login, and clears the rest.
func (s *State) Reset(v Values) {
	s.Values, s.Diagnostics, s.reported, s.Commands = v, Diagnostics{}, "", Counters{}
}

// Evaluator queries a shard for facts that the state of a session doesn't contain: the values of expressions, and whether a
// server accepts settings.
type Evaluator struct {
	*State
	shard Shard
}

// NewEvaluator returns the evaluator of a state that asks the shard.
func NewEvaluator(s *State, shard Shard) *Evaluator { return &Evaluator{State: s, shard: shard} }

// Try applies settings to a connection, so that the server can refuse them.
func (e *Evaluator) Try(settings *backend.Settings) error {
	return e.shard.On(settings, func(Conn) error { return nil })
}

// Ask sends the shard a small query that leaves no state, with the session's settings.
func (e *Evaluator) Ask(text string) (*backend.Rows, error) { return e.ask(text, backend.Nothing) }

func (e *Evaluator) ask(text string, leaves backend.Leaves) (rows *backend.Rows, err error) {
	err = e.shard.On(e.Settings, func(c Conn) (err error) {
		c.Note(leaves)
		rows, err = c.Query(text)
		return err
	})
	return rows, err
}

// Compute returns the value of an expression as a constant.
func (e *Evaluator) Compute(settings *backend.Settings, expression string) (string, error) {
	rows, err := e.shard.Compute(settings, "SELECT "+expression)
	if err != nil {
		return "", err
	}
	if len(rows.Rows) != 1 || len(rows.Rows[0]) != 1 {
		return "", wrongValue("SET needs one value, and %q gives another number of them", expression)
	}
	return constant(rows.Rows[0][0], rows.Columns[0].Type), nil
}

// ComputeValue is Compute for a user variable. It loses nothing of the value.
func (e *Evaluator) ComputeValue(expression string) (string, error) {
	rows, err := e.shard.Compute(e.Settings, "SELECT "+valueFields("v")+" FROM (SELECT "+expression+" AS v) AS t")
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
