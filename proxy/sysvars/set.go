package sysvars

import (
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// Set is a SET in progress. The session gets its values only after a shard has accepted them.
type Set struct {
	Values                                // the values after the SET
	Characteristics []stmt.Characteristic // the characteristics that it sets for transactions

	state       *Evaluator
	before      *backend.Settings // settings of the session before the SET
	assigned    []string          // the names of the settings that it assigns
	transaction Transaction
	assignments []string // the assignments for which the shard may give a warning
	mode        bool     // the SET changes sql_mode
}

// Transaction is the state of the session's transaction that SET needs.
type Transaction struct {
	Active  bool // a transaction is open, as the status of the servers shows it
	Running bool // statements join a transaction, whether or not it has begun on a shard
}

// Set begins a SET.
func (e *Evaluator) Set(t Transaction) *Set {
	return &Set{Values: e.Values, state: e, before: e.Settings, transaction: t}
}

// Assign makes one assignment of the SET.
func (s *Set) Assign(v stmt.Variable) error {
	err := s.assign(v)
	if err == nil {
		s.assigned = append(s.assigned, s.state.carriedNames(v)...)
	}
	return err
}

// AssignsAutocommit reports whether the SET assigns autocommit.
func (s *Set) AssignsAutocommit() bool { return slices.Contains(s.assigned, autocommit) }

// carriedNames returns the names of the settings that an assignment changes.
func (s *State) carriedNames(v stmt.Variable) []string {
	switch row := variables[v.Name]; {
	case v.NextOnly:
		return nil
	case v.User:
		return []string{variableName(v.Name)}
	case row.carried != nil:
		return row.carried
	}
	if other := s.flavor().Characteristic(v.Name); other != v.Name {
		return []string{v.Name, other}
	}
	return []string{v.Name}
}

func (s *Set) assign(v stmt.Variable) error {
	row := variables[v.Name]
	switch {
	case v.Global:
		return wire.Errorf(mysql.ER_SPECIFIC_ACCESS_DENIED_ERROR, "42000", "SET GLOBAL %s through the proxy: set it on every shard", v.Name)
	case v.User:
		return s.assignUser(v)
	case row.takes != nil:
		return row.takes(s, v)
	case row.set != nil:
		literal, err := s.literal(v)
		if err != nil {
			return err
		}
		return row.set(s, v, literal)
	case row.class == ReadOnly:
		return cantSet("Variable '%s' is a read only variable", v.Name)
	case row.class == Forbidden:
		return cantSet("variable '%s' can't be set through the proxy", v.Name)
	}
	return s.refuseUnclassified(v.Name)
}

// literal returns a value as a constant. The shard computes expressions. They do not see the other assignments of the same SET.
func (s *Set) literal(v stmt.Variable) (string, error) {
	switch {
	case v.Expression != "":
		return s.state.Compute(s.state.Settings, v.Expression)
	case v.Value.Kind == stmt.String:
		return backend.Quote(string(v.Value.Text)), nil
	case v.Value.Kind == stmt.Default:
		return defaultValue, nil
	}
	return v.Value.String(), nil
}

// carry adds a variable to the settings of connections, and to the assignments whose warnings the shard gives.
func (s *Set) carry(name, literal string) {
	s.Settings = s.Settings.With(name, literal)
	s.addAssignment(name + " = " + literal)
}

// refuseUnclassified returns the error for a variable that the table does not contain. The server returns the error of a variable that does not
// exist for sessions.
func (s *Set) refuseUnclassified(name string) error {
	if !plainName(name) {
		return wire.Errorf(erUnknownVariable, wire.StateGeneral, "Unknown system variable '%s'", name)
	}
	if _, err := s.state.Compute(s.Settings, "@@session."+name); err != nil {
		err = s.state.shard.On(s.Settings, func(c Conn) error {
			c.Note(backend.State)
			_, err := c.Exec("SET SESSION " + name + " = DEFAULT")
			return err
		})
		if err != nil {
			return err
		}
	}
	return cantSet("variable '%s' can't be set through the proxy, which doesn't know what it does: set it on every shard, with SET GLOBAL or in the configuration", name)
}

// plainName reports whether a name needs no quotes in SQL.
func plainName(name string) bool {
	return name != "" && !slices.ContainsFunc([]byte(name), func(c byte) bool {
		return c != '_' && c != '.' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}
