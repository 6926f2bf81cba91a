package session

import (
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/snapshot"
	"locus/proxy/sysvars"
	"locus/router/plan"
	"locus/router/stmt"
)

// refreshAccount takes the user's account from a snapshot, if that is not the snapshot of the last call.
func (s *Session) refreshAccount(w *snapshot.Snapshot) {
	if s.accountFrom != w {
		s.accountFrom, s.engine.Account = w, w.Account(s.user)
	}
}

// planContext returns the context in which the session's statements are planned under a snapshot.
func (s *Session) planContext(w *snapshot.Snapshot) plan.Context {
	return plan.Context{
		Catalog: w.Catalog, Schema: s.vars.Settings.Database(), Rights: s.engine.Account.Rights, Owned: sysvars.Owned, Temporary: slices.Clone(s.conns.TemporaryTables()), Shard: s.vars.Shard,
		SourceNames: w.Flavor.NamesSources(),
	}
}

// mayRun returns an error if only users with admin may run the statement.
func (s *Session) mayRun(f *plan.Facts) error {
	switch {
	case s.engine.Account.Admin:
	case f.Reserved:
		return s.reservedError()
	case f.Statement.Files != "":
		return &plan.Refusal{Code: plan.NotAllowed, Message: f.Statement.Files + " lets the table's rows be stored in files or servers that the statement chooses: " +
			"leave it out, or have a user with admin run it; nothing was changed"}
	}
	return nil
}

// reservedError returns the error for a statement that names tables of the schema locus, in which the proxies store their own
// data on a shard.
func (s *Session) reservedError() error {
	return &plan.Denied{
		Number:  mysql.ER_DBACCESS_DENIED_ERROR,
		Message: fmt.Sprintf("Access denied for user '%s'@'%%' to database '%s': proxies keep decisions and positions there; only users with admin may use them", s.user, stmt.Own),
	}
}
