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

// obey takes the user's account from the snapshot.
func (s *Session) obey(w *snapshot.Snapshot) {
	if s.under != w {
		s.under, s.account = w, w.Account(s.user)
		s.env.Account = s.account
	}
}

// planContext is what statements are planned in.
func (s *Session) planContext(w *snapshot.Snapshot) plan.Context {
	return plan.Context{
		Catalog: w.Catalog, Schema: s.vars.Settings.Database(), Rights: s.account.Rights, Owned: sysvars.Owned, Temporary: slices.Clone(s.conns.TemporaryTables()), Shard: s.vars.Shard,
		SourceNames: w.Flavor.NamesSources(),
	}
}

// mayRun refuses what only users with admin may run.
func (s *Session) mayRun(f *plan.Facts) error {
	switch {
	case s.account.Admin:
	case f.Reserved:
		return s.reserved()
	case f.Statement.Files != "":
		return &plan.Refusal{Code: plan.NotAllowed, Message: f.Statement.Files + " lets the table's rows be stored in files or servers that the statement chooses: " +
			"leave it out, or have a user with admin run it; nothing was changed"}
	}
	return nil
}

// reserved refuses what names the tables that proxies keep in the schema locus of a shard.
func (s *Session) reserved() error {
	return &plan.Denied{
		Number:  mysql.ER_DBACCESS_DENIED_ERROR,
		Message: fmt.Sprintf("Access denied for user '%s'@'%%' to database '%s': proxies keep decisions and positions there; only users with admin may use them", s.user, stmt.Own),
	}
}
