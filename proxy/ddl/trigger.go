package ddl

import (
	"context"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// DefineTrigger creates a trigger on a table that is on one shard alone, and returns the OK for the client. No transaction can undo it.
//
// A trigger may leave state on the connection of each statement that changes its table, such as user variables. So the table is locked from
// before the trigger exists until every proxy knows it. A statement that runs the trigger thus ends when its proxy knows the trigger, even if
// it began before, and the proxy then looks for that state. CREATE TRIGGER itself waits for the same transactions as the lock. If the account
// may not lock tables, a trigger that assigns user variables is refused, and another one is created without the lock, with a warning: stored
// code that it calls may assign some.
func (s *Session) DefineTrigger(st Statement, shard router.ShardName) (ok wire.OK, err error) {
	if err := s.Commit(); err != nil {
		return ok, err
	}
	l, err := s.Conns.LendApart(shard, txn.Writes, st.Settings)
	if err != nil {
		return ok, err
	}
	_, unlocked := l.Conn.Own().Exec(s.Context, "LOCK TABLES "+st.quoted(st.Facts.Statement.Trigger.On)+" WRITE")
	switch {
	case unlocked == nil:
	case !hasCode(unlocked, mysql.ER_DBACCESS_DENIED_ERROR, mysql.ER_TABLEACCESS_DENIED_ERROR):
		l.Fail(unlocked)
		return ok, unsent(unlocked)
	case stmt.AssignsVariables(string(st.Values.Text), 0):
		l.Fail(unlocked)
		return ok, &plan.Refusal{Code: plan.Unsupported, Message: fmt.Sprintf(
			"a trigger that assigns user variables, while the account of shard %s may not lock its table (%v): GRANT LOCK TABLES on the database to that account", shard, unlocked)}
	}
	d := &definition{Session: s, Statement: st}
	s.Observer.Sent(l)
	if ok, err = l.Conn.Run(s.Context, string(st.Values.Text), txn.Effects(st.Facts)); err == nil && ok.Warnings > 0 {
		d.keepWarnings(l)
	}
	if err == nil && unlocked != nil {
		s.Diagnostics.Warn("shard " + string(shard) + " locks no table (" + unlocked.Error() + "): user variables that functions and procedures of the trigger assigned during its definition may be lost")
		ok.Warnings++
	}
	if err == nil || !txn.IsRefusal(err) { // the shard did not answer, so the trigger may exist
		s.Reread(st.Change(shard))
	}
	if err == nil || txn.IsRefusal(err) {
		d.unlock(l)
	} else {
		l.Fail(err)
	}
	return ok, err
}

// unlock ends the locks of a connection and gives it back. If that fails, the connection is closed, which ends them too.
func (d *definition) unlock(l txn.Lease) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(d.Context), answerWait, txn.ErrNoAnswer)
	defer cancel()
	if _, err := l.Conn.Own().Exec(ctx, "UNLOCK TABLES"); err != nil {
		l.Lost()
		return
	}
	l.Done(l.Conn.Status())
}

// LocksForTrigger reports whether DefineTrigger can lock the table of a trigger. It can't if the session itself holds something on a connection
// for which that lock would wait. LOCK TABLES of the session keeps other statements away from the table until every proxy knows the trigger, as
// DefineTrigger does. A temporary table has no triggers, which the server reports.
func (s *Session) LocksForTrigger(table catalog.TableName) bool {
	for _, why := range []txn.Reason{txn.LockedTables, txn.Handler, txn.GlobalTransaction, txn.ReadLock, txn.InstanceLock} {
		if s.Conns.Reserved(why) {
			return false
		}
	}
	for _, t := range s.Conns.TemporaryTables() {
		if t == table {
			return false
		}
	}
	return true
}
