package sysvars

import (
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router/stmt"
)

// readOnlyNames are the servers' names for the variable that makes all transactions of a session read only.
var readOnlyNames = [...]string{"tx_read_only", "transaction_read_only"}

func setIsolation(s *Set, v stmt.Variable, literal string) error {
	return s.characteristic(v, "isolation", literal)
}

func setReadOnly(s *Set, v stmt.Variable, literal string) error {
	return s.characteristic(v, "read_only", literal)
}

// characteristic sets the isolation level or the read-only mode, for the session or for the next transaction. The servers have different names
// for them.
func (s *Set) characteristic(v stmt.Variable, what, literal string) error {
	if v.NextOnly {
		if s.transaction.Active {
			return wire.Errorf(mysql.ER_CANT_CHANGE_TX_CHARACTERISTICS, "25001", "Transaction characteristics can't be changed while a transaction is in progress")
		}
		s.Characteristics = append(s.Characteristics, stmt.Characteristic{What: what, Next: true, Clause: clause(what, literal)})
		return nil
	}
	name := "transaction_" + what
	if v.Name != name { // MariaDB 10.11 refuses the new name
		name = s.state.flavor().Characteristic(name)
	}
	if what == "read_only" && literal != defaultValue {
		literal = switched(literal)
	}
	c := stmt.Characteristic{What: what}
	if s.transaction.Running {
		now, err := s.state.Compute(s.state.Settings, "@@"+name)
		if err != nil {
			return err
		}
		c.Clause = clause(what, now)
	}
	s.Characteristics = append(s.Characteristics, c)
	s.Settings = s.Settings.With(name, literal)
	return nil
}

// clause returns the clause of SET TRANSACTION for a value.
func clause(what, literal string) string {
	switch {
	case what == "isolation":
		return "ISOLATION LEVEL " + strings.ReplaceAll(unquote(literal), "-", " ")
	case switched(literal) == "1":
		return "READ ONLY"
	}
	return "READ WRITE"
}
