package session

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/stmt"
)

// locksNothing gives the error of a LOCK TABLES of tables that can't be, in
// information_schema. Servers find it wrong as they read it: the transaction goes on,
// and tables that are locked stay so.
func (s *Session) locksNothing(r *request) error {
	if !slices.ContainsFunc(r.facts.Statement.Tables, func(t stmt.TableName) bool {
		return strings.EqualFold(s.fullName(r, t).Schema, "information_schema")
	}) {
		return nil
	}
	said := s.readByServer(r.snapshot, lockText(r.facts.Statement.LockTables))
	if e, ok := errors.AsType[*mysql.MyError](said); ok && e.Code != mysql.ER_UNSUPPORTED_PS {
		return said
	}
	return nil
}
