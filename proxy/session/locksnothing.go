package session

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/router/stmt"
)

// checkLockable returns the server's error for a LOCK TABLES that names tables of information_schema, which can't be locked.
// Servers detect the error when they parse the statement. So the transaction continues, and locked tables stay locked.
func (s *Session) checkLockable(r *exec.Execution) error {
	if !slices.ContainsFunc(r.Facts.Statement.Tables, func(t stmt.TableName) bool {
		return strings.EqualFold(r.FullName(t).Schema, "information_schema")
	}) {
		return nil
	}
	refused := s.readByServer(r.Snapshot, lockText(r.Facts.Statement.LockTables))
	if e, ok := errors.AsType[*mysql.MyError](refused); ok && e.Code != mysql.ER_UNSUPPORTED_PS {
		return refused
	}
	return nil
}
