package session

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/router/stmt"
)

// locksNothing gives the error of a LOCK TABLES of tables that can't be, in
// information_schema. Servers find it wrong as they read it: the transaction goes on,
// and tables that are locked stay so.
func (s *Session) locksNothing(r *exec.Work) error {
	if !slices.ContainsFunc(r.Facts.Statement.Tables, func(t stmt.TableName) bool {
		return strings.EqualFold(s.env.FullName(r, t).Schema, "information_schema")
	}) {
		return nil
	}
	said := s.readByServer(r.Snapshot, lockText(r.Facts.Statement.LockTables))
	if e, ok := errors.AsType[*mysql.MyError](said); ok && e.Code != mysql.ER_UNSUPPORTED_PS {
		return said
	}
	return nil
}
