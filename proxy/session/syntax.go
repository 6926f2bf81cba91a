package session

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/fence"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// nearLength is the number of bytes of a text that the servers quote in a syntax error.
const nearLength = 80

// planned plans a client's text. It returns the plan and the snapshot under which the plan must run. This is another one than w
// if the shards were polled again. If the text is refused because locus can't parse it, a shard parses it without running it. If
// that shard finds a syntax error, planned returns that.
func (s *Session) planned(w *snapshot.Snapshot, l *stmt.Lexed, under plan.Context) (plan.Plan, *snapshot.Snapshot, error) {
	p, err := s.planUnder(l, under)
	if err == nil && s.pollUnlisted(p.About(), under) || s.pollMissing(err) {
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
		s.observer.SetDigest(l, p)
		return p, w, err
	}
	refused := s.readByServer(w, string(l.Text))
	if e, ok := errors.AsType[*mysql.MyError](refused); ok && e.Code == mysql.ER_PARSE_ERROR {
		return nil, w, refused
	}
	return nil, w, err
}

// beingDeclared reports whether a statement was refused because of a table that another session is declaring at this moment.
// until is the time when the declaration must have succeeded or been withdrawn.
func beingDeclared(w *snapshot.Snapshot, err error) (until time.Time, is bool) {
	if refusal, ok := errors.AsType[*plan.Refusal](err); ok && refusal.Code == plan.BrokenTable {
		until = w.Settling[refusal.Table]
	}
	return until, time.Now().Before(until)
}

// awaitDeclaration waits for the next snapshot, at most until a time, and reports whether to plan the statement again. It does
// not delay fences.
func (s *Session) awaitDeclaration(w *snapshot.Snapshot, until time.Time) bool {
	hold, free := s.gate.Hold()
	if !free {
		return false
	}
	defer hold.End()
	ctx, cancel := context.WithDeadline(s.interrupts.Waits(), until)
	defer cancel()
	err := hold.WaitUntil(ctx, func() bool { return s.Snapshot() != w }, s.conns.Running())
	return err == nil || errors.Is(err, fence.ErrTooLong) || errors.Is(err, context.DeadlineExceeded)
}

// readByServer returns the error of a server that parses a text without running it, or nil.
func (s *Session) readByServer(w *snapshot.Snapshot, text string) error {
	return s.engine.Anywhere(s.engine.StandIns(w), true, func(shard router.ShardName, how txn.Mode) error {
		_, _, err := s.prepareAt(shard, how, text)
		return err
	})
}

// pollUnlisted polls the shards if a statement names something that none of them had. It reports whether another snapshot is in
// force. A plan with an unknown name is not cached. A session with the temporary tables of a procedure does not wait for the
// poll, because their names aren't known.
func (s *Session) pollUnlisted(f *plan.Facts, ctx plan.Context) bool {
	if s.mayRun(f) != nil { // the statement is refused in any case
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

// pollMissing polls the shards if none of them had a declared table. It reports whether another snapshot is in force.
func (s *Session) pollMissing(err error) bool {
	gone, ok := errors.AsType[*plan.Unknown](err)
	return ok && gone.Number == mysql.ER_NO_SUCH_TABLE && s.Unlisted != nil && s.Unlisted(s.interrupts.Waits(), true)
}

// syntaxError returns the servers' syntax error word for word, because clients search for its text.
func (s *Session) syntaxError(at plan.Near) *mysql.MyError {
	return wire.Errorf(mysql.ER_PARSE_ERROR, "42000", "You have an error in your SQL syntax; check the manual that corresponds to your %s server version for the right syntax to use near '%s' at line %d",
		s.flavor(), s.quoted(at.Text), at.Line)
}

// quoteRest makes a shard's syntax error also quote the statements after the one that the shard was sent. A server that has the
// whole text quotes them.
func (s *Session) quoteRest(e *mysql.MyError) *mysql.MyError {
	if len(s.behind) == 0 || e.Code != mysql.ER_PARSE_ERROR {
		return e
	}
	const before, after = " near '", "' at line "
	start, end := strings.Index(e.Message, before)+len(before), strings.LastIndex(e.Message, after)
	if start < len(before) || end < start {
		return e
	}
	near := e.Message[start:end]
	if !strings.HasSuffix(strings.TrimRight(string(s.lexed.Text), blanks), near) { // the text was cut off, or isn't the client's
		return e
	}
	all := s.quoted(near + string(s.behind))
	return &mysql.MyError{Code: e.Code, State: e.State, Message: e.Message[:start] + all + e.Message[end:]}
}

// quoted returns as much of a text as a syntax error quotes, in whole characters.
func (s *Session) quoted(text string) string {
	if len(text) <= nearLength {
		return text
	}
	end := s.flavor().CutOff()
	return strings.ToValidUTF8(text[:nearLength-len(end)], "") + end
}
