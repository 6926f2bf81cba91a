package session

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/txn"
	"locus/router/stmt"
)

// leavesLocks tells whether a statement's connection may hold metadata locks
// though its answer says that no transaction is open. With autocommit off a
// server keeps those of procedures, and of tables whose engine knows no
// transactions, until a COMMIT; handed back with them, the connection would block
// everybody's DROP for as long as nobody borrows it.
func (s *Session) leavesLocks(l txn.Lease, r *request) bool {
	const open = mysql.SERVER_STATUS_IN_TRANS | mysql.SERVER_STATUS_CURSOR_EXISTS // neither can be handed back
	if s.vars.Autocommit || l.Joined() || s.client.Scanner.Status()&open != 0 {
		return false
	}
	switch r.facts.Statement.Kind {
	case stmt.Call, stmt.Other: // whatever the parser could not read
		return true
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete:
		return len(r.facts.Statement.Tables) > 0
	default:
		return false
	}
}

// unlock gives such a connection back without them. The client has its answer:
// a connection that can't be unlocked is closed, which unlocks it too.
func (s *Session) unlock(l txn.Lease) {
	if _, err := l.Conn.Own().Exec(s.ctx, "COMMIT"); err != nil {
		l.Lost()
		return
	}
	l.Done(l.Conn.Status())
}
