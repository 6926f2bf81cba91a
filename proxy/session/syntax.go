package session

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/fence"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// nearLength is how many bytes of a text the servers quote in a syntax error.
const nearLength = 80

// planned plans a client's text, and gives the snapshot that the plan is of and must run under: another one than w if the shards were
// looked at again. One that is refused because it can't be read is shown to a shard, which reads it without running it and may find
// it wrong.
func (s *Session) planned(w *snapshot.Snapshot, l *stmt.Lexed, under plan.Context) (plan.Plan, *snapshot.Snapshot, error) {
	p, err := s.planUnder(l, under)
	if err == nil && s.looksAgain(p.About(), under) || s.madeMeanwhile(err) {
		w = s.snapshot()
		again := s.planContext(w)
		again.Schema = under.Schema
		p, err = s.planUnder(l, again)
	}
	for {
		until, is := beingDeclared(w, err)
		if !is || !s.awaitDeclaration(w, until) {
			break
		}
		w = s.snapshot()
		again := s.planContext(w)
		again.Schema = under.Schema
		p, err = s.planUnder(l, again)
	}
	if refusal, ok := errors.AsType[*plan.Refusal](err); !ok || !refusal.Unread {
		s.observer.Figured(l, p)
		return p, w, err
	}
	said := s.readByServer(w, string(l.Text))
	if e, ok := errors.AsType[*mysql.MyError](said); ok && e.Code == mysql.ER_PARSE_ERROR {
		return nil, w, said
	}
	return nil, w, err
}

// beingDeclared reports whether a statement was refused because of a table that another session is declaring at this moment, and returns
// the time when the declaration must have succeeded or been withdrawn.
func beingDeclared(w *snapshot.Snapshot, err error) (until time.Time, is bool) {
	if refusal, ok := errors.AsType[*plan.Refusal](err); ok && refusal.Code == plan.BrokenTable {
		until = w.Settling[refusal.Table]
	}
	return until, time.Now().Before(until)
}

// awaitDeclaration waits for the next snapshot, at most until a time, and reports whether to plan the statement again. It does not delay
// fences.
func (s *Session) awaitDeclaration(w *snapshot.Snapshot, until time.Time) bool {
	hold, there := s.gate.Hold()
	if !there {
		return false
	}
	defer hold.End()
	ctx, cancel := context.WithDeadline(s.interrupts.Waits(), until)
	defer cancel()
	err := hold.WaitUntil(ctx, func() bool { return s.Snapshot() != w }, s.conns.Running())
	return err == nil || errors.Is(err, fence.ErrTooLong) || errors.Is(err, context.DeadlineExceeded)
}

// readByServer is what a server says of a text that it reads and does not run.
func (s *Session) readByServer(w *snapshot.Snapshot, text string) error {
	return s.env.Anywhere(s.env.StandIns(w), true, func(shard router.ShardName, how txn.Mode) error {
		_, _, err := s.prepareAt(shard, how, text)
		return err
	})
}

// looksAgain has the shards looked at again if a statement names what none of them had,
// and tells whether they have something else now. A plan by an unknown name is for one
// time. A session with a procedure's temporary tables, of which the names aren't known,
// does not wait.
func (s *Session) looksAgain(f *plan.Facts, ctx plan.Context) bool {
	if s.mayRun(f) != nil { // it is refused, whatever the shards have
		return false
	}
	table := f.UnlistedTable(ctx)
	if table {
		f.Cacheable = false
	}
	if s.Unlisted == nil || !table && !f.UnlistedRoutine(ctx) {
		return false
	}
	if f.Statement.Kind == stmt.Call {
		table = true
	}
	return s.Unlisted(s.interrupts.Waits(), table && !s.conns.Reserved(txn.Procedure))
}

// madeMeanwhile has the shards looked at again if a declared table was on none of them.
func (s *Session) madeMeanwhile(err error) bool {
	gone, ok := errors.AsType[*plan.Unknown](err)
	return ok && gone.Number == mysql.ER_NO_SUCH_TABLE && s.Unlisted != nil && s.Unlisted(s.interrupts.Waits(), true)
}

// changedMeanwhile has the shards looked at again that answered with other columns than others: somebody may be altering the
// table on one after the other. It tells whether the tables are known to be others now than the statement was planned for.
func (s *Session) changedMeanwhile(r *exec.Work, why *plan.Refusal) bool {
	others := func() bool { return s.Snapshot().Catalog != r.Snapshot.Catalog }
	if !why.Unlike || s.Unlisted == nil || others() {
		return why.Unlike && others()
	}
	_ = s.Unlisted(s.interrupts.Waits(), true)
	return others()
}

// syntaxError is that of the servers, word for word: clients look for it.
func (s *Session) syntaxError(at plan.Near) *mysql.MyError {
	return wire.Errorf(mysql.ER_PARSE_ERROR, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your %s server version for the right syntax to use near '%s' at line %d",
		s.flavor(), s.quoted(at.Text), at.Line)
}

// nearest lets a shard's syntax error quote the statements that stand behind the
// one that the shard was sent, as a server does that has the whole text.
func (s *Session) nearest(e *mysql.MyError) *mysql.MyError {
	if len(s.behind) == 0 || e.Code != mysql.ER_PARSE_ERROR {
		return e
	}
	const before, after = " near '", "' at line "
	start, end := strings.Index(e.Message, before)+len(before), strings.LastIndex(e.Message, after)
	if start < len(before) || end < start {
		return e
	}
	near := e.Message[start:end]
	if !strings.HasSuffix(strings.TrimRight(string(s.lexed.Text), blanks), near) { // it was cut, or isn't the client's text
		return e
	}
	all := s.quoted(near + string(s.behind))
	return &mysql.MyError{Code: e.Code, State: e.State, Message: e.Message[:start] + all + e.Message[end:]}
}

// quoted is as much of a text as a syntax error quotes, whole characters only.
func (s *Session) quoted(text string) string {
	if len(text) <= nearLength {
		return text
	}
	end := s.flavor().CutOff()
	return strings.ToValidUTF8(text[:nearLength-len(end)], "") + end
}
