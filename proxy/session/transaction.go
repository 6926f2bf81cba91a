package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"locus/proxy/backend"
	"locus/proxy/twophase"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// transaction is what the session has open. Shards join it when a statement
// first needs them; until then BEGIN has cost nothing.
type transaction struct {
	// begun: the client said BEGIN.
	begun bool
	// implied: with autocommit off a server has begun it by itself, or a savepoint was
	// set. Without begun and branches none is open yet, as far as the client can see.
	implied bool
	// opening are the statements that a shard which joins is sent first: scope,
	// BEGIN, and the savepoints set so far.
	opening []string
	// marks are the savepoints set so far: the last of opening.
	marks []string
	// how it was begun, and scope the SET TRANSACTION that was for it.
	how      stmt.Opening
	scope    string
	branches []branch
	// name is what the XA branches are called, once there is one.
	name twophase.Name
	// next is SET TRANSACTION … for the transaction to come.
	next string
	// toldNext is the connection that was told so, for the statement under way.
	toldNext *backend.Conn
	// lost: a connection of the transaction was lost, so that it was rolled back
	// before the client asked for it. The session ends once it has been told.
	lost bool
	// held tells other goroutines that a transaction is open.
	held atomic.Bool
}

// branch is the transaction on one shard.
type branch struct {
	shard router.ShardName
	pool  *backend.Pool
	conn  *backend.Conn
	// opened: it was sent its opening ahead of the statement that it joined with.
	opened bool
	// xa: it is an XA branch of the transaction's name. The first to join never is.
	xa bool
	// prepared: it was told to prepare, and perhaps did; it can outlive its connection.
	prepared bool
	// wrote: it may have changed something.
	wrote bool
}

// running tells whether statements join a transaction.
func (t *transaction) running() bool { return t.begun || t.implied || len(t.branches) > 0 }

// active tells whether one is open, as the servers' status has it.
func (t *transaction) active() bool { return t.begun || len(t.branches) > 0 }

func (t *transaction) on(shard router.ShardName) *branch {
	for i := range t.branches {
		if t.branches[i].shard == shard {
			return &t.branches[i]
		}
	}
	return nil
}

func (t *transaction) add(b branch) {
	t.branches = append(t.branches, b)
	t.held.Store(true)
}

func (t *transaction) remove(shard router.ShardName) {
	t.branches = slices.DeleteFunc(t.branches, func(b branch) bool { return b.shard == shard })
}

// end forgets the transaction; the connections were given back.
func (t *transaction) end() {
	clear(t.opening)
	t.next, t.scope, t.how, t.marks = "", "", stmt.Opening{}, t.marks[:0]
	t.begun, t.implied, t.opening, t.branches = false, false, t.opening[:0], t.branches[:0]
	t.name = twophase.Name{}
	t.held.Store(false)
}

// open notes how a transaction begins on every shard that joins.
func (t *transaction) open(how stmt.Opening) {
	t.begun, t.how, t.scope = true, how, t.next
	if t.scope != "" {
		t.opening = append(t.opening, t.scope)
	}
	t.opening = append(t.opening, how.String())
}

// imply notes a transaction that autocommit being off begins. Under LOCK TABLES shards
// that join must begin by themselves too: BEGIN would end the locks.
func (t *transaction) imply(locked bool) {
	t.open(stmt.Opening{})
	t.begun, t.implied = false, true
	if locked {
		t.opening = t.opening[:len(t.opening)-1]
	}
	t.next = ""
}

// unimply takes that back, if nothing was begun after all.
func (t *transaction) unimply() {
	if next := t.scope; t.implied && len(t.branches)+len(t.marks) == 0 {
		t.end()
		t.next = next
	}
}

// begin opens a transaction, after committing one that is open, as MySQL does.
func (s *Session) begin(how stmt.Opening) error {
	next := s.txn.next
	if s.txn.begun && s.flavor().KeepsCharacteristics() { // MySQL has it go on with what was said of the one that it ends
		next = cmp.Or(next, s.txn.scope)
		if how.Access == stmt.AnyAccess {
			how.Access = s.txn.how.Access
		}
	}
	if err := s.commit(); err != nil {
		return err
	}
	if s.pins != nil {
		if err := s.unlockTables(); err != nil {
			return err
		}
	}
	s.txn.next = next
	s.txn.open(how)
	s.txn.held.Store(true)
	s.txn.next = ""
	return nil
}

// commit ends the transaction on every shard that joined. What it could not
// commit it names, and says what happened elsewhere.
func (s *Session) commit() error {
	if s.pins.has(globalTransaction) {
		return s.barredByXA()
	}
	s.interrupts.Shield()
	defer s.interrupts.Unshield()
	branches := s.txn.branches
	if s.Spanning == XA && len(branches) > 1 && !s.pins.has(lockedTables) {
		return s.commitSpanning()
	}
	for i, b := range branches {
		err := s.commitOne(s.awaiting, b)
		if err == nil {
			s.giveBack(b)
			continue
		}
		s.release(b, err)
		s.rollback(branches[i+1:])
		s.txn.end()
		return s.commitFailure(err, b.shard, branches[:i], branches[i+1:], len(branches))
	}
	if len(branches) > 0 {
		s.Counts.Transactions.count(len(branches), twophase.Committed)
	}
	s.txn.end()
	return nil
}

func (s *Session) commitFailure(err error, at router.ShardName, done, rest []branch, shards int) error {
	var refused *backend.ServerError
	outcome := "whether it was committed there is unknown"
	if errors.As(err, &refused) || backend.NotSent(err) {
		outcome = "it was rolled back there"
	}
	verdict := twophase.Unknown
	if (refused != nil || backend.NotSent(err)) && len(done) == 0 {
		verdict = twophase.RolledBack
	}
	s.Counts.Transactions.count(shards, verdict)
	if refused != nil && len(done) == 0 {
		return err
	}
	text := fmt.Sprintf("commit on shard %s: %v; %s", at, err, outcome)
	for i, b := range done {
		if i == 0 {
			text += "; it is committed on " + string(b.shard)
			continue
		}
		text += ", " + string(b.shard)
	}
	for _, b := range rest {
		text += fmt.Sprintf("; it was rolled back on %s", b.shard)
	}
	return fail(erCommitError, stateGeneral, "%s", text)
}

// rollbackBranches ends the transaction without its effects. It can't fail: a
// connection that does not obey is closed, which rolls back as well.
func (s *Session) rollbackBranches() {
	if len(s.txn.branches) > 0 {
		s.Counts.Transactions.count(len(s.txn.branches), twophase.RolledBack)
	}
	s.rollback(s.txn.branches)
	s.txn.end()
}

// undoTime bounds a rollback; after it the connection is closed instead.
const undoTime = 5 * time.Second

func (s *Session) rollback(branches []branch) {
	if len(branches) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), undoTime)
	defer cancel()
	for _, b := range branches {
		if err := s.rollbackOne(ctx, b); err != nil {
			s.discard(b)
			continue
		}
		s.giveBack(b)
	}
}

// savepoint runs SAVEPOINT, ROLLBACK TO or RELEASE on every branch, and
// remembers it for shards that join later.
func (s *Session) savepoint(m stmt.Mark) error {
	switch sets := m.Verb == "savepoint"; {
	case s.txn.running():
	case !sets:
		return noSavepoint(m.Name)
	case s.vars.Autocommit:
		return nil // MySQL: set and gone with the statement's own transaction
	default: // the first of a transaction that nobody said BEGIN to
		s.txn.imply(s.pins.has(lockedTables))
	}
	if m.Verb == "savepoint" {
		if err := s.txn.mayMark(m.Name); err != nil {
			return err
		}
	}
	for _, b := range s.txn.branches {
		if _, err := b.conn.Own().Exec(s.ctx, m.String()); err != nil {
			if _, refused := errors.AsType[*backend.ServerError](err); !refused {
				s.loseTransaction(b.shard)
			}
			return err
		}
	}
	return s.txn.mark(m, len(s.txn.branches) > 0)
}

// forget takes a savepoint out of what is remembered.
func (t *transaction) forget(name string) {
	if at := slices.Index(t.marks, name); at >= 0 {
		first := len(t.opening) - len(t.marks)
		t.marks, t.opening = slices.Delete(t.marks, at, at+1), slices.Delete(t.opening, first+at, first+at+1)
	}
}

func noSavepoint(name string) error {
	return fail(erSavepoint, "42000", "SAVEPOINT %s does not exist", name)
}

// mayMark tells why one more savepoint can't be remembered; nil: it can.
func (t *transaction) mayMark(name string) error {
	if len(name) > longestMark {
		return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf("a savepoint's name of %d bytes, of at most %d: give it a shorter one", len(name), longestMark)}
	}
	return oneMore("savepoints", len(t.marks))
}

// mark remembers a statement on savepoints; asked: shards have taken it.
func (t *transaction) mark(m stmt.Mark, asked bool) error {
	at := slices.IndexFunc(t.marks, func(name string) bool { return strings.EqualFold(name, m.Name) })
	first := len(t.opening) - len(t.marks)
	switch {
	case m.Verb == "savepoint":
		if at >= 0 {
			t.marks, t.opening = slices.Delete(t.marks, at, at+1), slices.Delete(t.opening, first+at, first+at+1)
		}
		t.marks, t.opening = append(t.marks, m.Name), append(t.opening, m.String())
	case at < 0 && !asked:
		return noSavepoint(m.Name)
	case at >= 0 && m.Verb == "release":
		t.marks, t.opening = t.marks[:at], t.opening[:first+at]
	case at >= 0:
		t.marks, t.opening = t.marks[:at+1], t.opening[:first+at+1]
	}
	return nil
}
