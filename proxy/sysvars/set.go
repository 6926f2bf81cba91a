package sysvars

import (
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// Set is one SET on its way: nothing of it is the session's until a shard has taken it.
type Set struct {
	Values                                // as they will be
	Characteristics []stmt.Characteristic // that it gives transactions

	state       *State
	before      *backend.Settings // of the session as it began
	assigned    []string          // the names by which connections carry what it assigns
	transaction Transaction
	said        []string // what of it the shard may warn of
	mode        bool     // sql_mode is another one
}

// Transaction is what SET has to know of the session's.
type Transaction struct {
	Active  bool // one is open, as the servers' status has it
	Running bool // statements join one, whether or not it has begun anywhere
}

// Set begins a SET.
func (s *State) Set(t Transaction) *Set {
	return &Set{Values: s.Values, state: s, before: s.Settings, transaction: t}
}

// Assign makes one of its assignments.
func (s *Set) Assign(v stmt.Variable) error {
	err := s.assign(v)
	if err == nil {
		s.assigned = append(s.assigned, s.state.carriedNames(v)...)
	}
	return err
}

// AssignsAutocommit tells whether it says anything of autocommit.
func (s *Set) AssignsAutocommit() bool { return slices.Contains(s.assigned, autocommit) }

// carriedNames are the names by which connections carry what one assignment changes.
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

// literal gives a value as a constant; what is more than one is computed by the shard. Nothing that the same SET assigns is seen
// by its values.
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

// carry has every connection carry a variable, and the shard say what it thinks of it.
func (s *Set) carry(name, literal string) {
	s.Settings = s.Settings.With(name, literal)
	s.say(name + " = " + literal)
}

// refuseUnclassified leaves it to the server to say that a session has no such variable.
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

func plainName(name string) bool {
	return name != "" && !slices.ContainsFunc([]byte(name), func(c byte) bool {
		return c != '_' && c != '.' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}
