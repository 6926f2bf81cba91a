package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"locus/proxy/backend"
	"locus/proxy/twophase"
	"locus/router"
)

// transaction is what the session has open. Shards join it when a statement
// first needs them; until then BEGIN has cost nothing.
type transaction struct {
	// begun: the client said BEGIN. With autocommit off, branches alone tell.
	begun bool
	// opening are the statements that a shard which joins is sent first: BEGIN,
	// and the savepoints set so far.
	opening []string
	// said is the last text that opened one: most sessions say the same each time.
	said     string
	branches []branch
	// name is what the XA branches are called, once there is one.
	name twophase.Name
	// next is SET TRANSACTION … for the transaction to come.
	next string
	// lost: a connection of the transaction was lost, so that it was rolled back
	// before the client asked for it. The session ends once it has been told.
	lost bool
	// readOnly: it was begun so.
	readOnly bool
	// held tells other goroutines that a transaction is open.
	held atomic.Bool
}

// branch is the transaction on one shard.
type branch struct {
	shard router.ShardName
	pool  *backend.Pool
	conn  *backend.Conn
	// tainted: a procedure may have set variables that nobody told us of.
	tainted bool
	// xa: it is an XA branch of the transaction's name. The first to join never is.
	xa bool
	// prepared: it was told to prepare, and perhaps did; it can outlive its connection.
	prepared bool
	// wrote: it may have changed something.
	wrote bool
}

func (t *transaction) running() bool { return t.begun || len(t.branches) > 0 }

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

// end forgets the transaction; the connections were given back.
func (t *transaction) end() {
	clear(t.opening)
	t.next, t.readOnly = "", false
	t.begun, t.opening, t.branches = false, t.opening[:0], t.branches[:0]
	t.name = twophase.Name{}
	t.held.Store(false)
}

// begin opens a transaction, after committing one that is open, as MySQL does.
func (s *Session) begin(text string) error {
	next := s.txn.next
	if err := s.commit(); err != nil {
		return err
	}
	if s.pins != nil {
		if err := s.unlockTables(); err != nil {
			return err
		}
	}
	s.txn.next = next
	s.txn.begun = true
	s.txn.held.Store(true)
	if s.txn.next != "" {
		s.txn.opening = append(s.txn.opening, s.txn.next)
		s.txn.next = ""
	}
	s.txn.opening = append(s.txn.opening, text)
	s.txn.readOnly = len(text) > len("START TRANSACTION") && strings.Contains(strings.ToUpper(text), "READ ONLY")
	return nil
}

// commit ends the transaction on every shard that joined. What it could not
// commit it names, and says what happened elsewhere.
func (s *Session) commit() error {
	if s.pins.has(globalTransaction) {
		return s.barredByXA()
	}
	s.shield()
	defer s.unshield()
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

// giveBack returns a connection whose last answer was read whole.
func (s *Session) giveBack(b branch) {
	if b.conn.InTransaction() {
		s.discard(b)
		return
	}
	s.handBack(b)
}

// release gives back a connection after an error.
func (s *Session) release(b branch, err error) {
	if _, refused := errors.AsType[*backend.ServerError](err); refused {
		s.giveBack(b)
		return
	}
	s.discard(b)
}

// drop ends the transaction after one of its connections was lost: its server
// rolls back, so the others are rolled back too.
func (s *Session) drop(shard router.ShardName) {
	s.txn.lost = true
	s.Counts.Transactions.count(len(s.txn.branches), twophase.RolledBack)
	var rest []branch
	for _, b := range s.txn.branches {
		if b.shard == shard {
			s.discard(b)
			continue
		}
		rest = append(rest, b)
	}
	s.rollback(rest)
	s.txn.end()
}

// savepoint runs SAVEPOINT, ROLLBACK TO or RELEASE on every branch, and
// remembers it for shards that join later.
func (s *Session) savepoint(text string) error {
	words := strings.Fields(strings.TrimRight(strings.TrimSpace(text), ";"))
	name := words[len(words)-1]
	switch sets := strings.EqualFold(words[0], "SAVEPOINT"); {
	case s.txn.running():
	case !sets:
		return fail(erSavepoint, "42000", "SAVEPOINT %s does not exist", name)
	case s.autocommit:
		return nil // MySQL: set and gone with the statement's own transaction
	default: // the first of a transaction that nobody said BEGIN to
		if err := s.begin("BEGIN"); err != nil {
			return err
		}
	}
	for _, b := range s.txn.branches {
		if _, err := b.conn.Exec(s.ctx, text); err != nil {
			if _, refused := errors.AsType[*backend.ServerError](err); !refused {
				s.drop(b.shard)
			}
			return err
		}
	}
	return s.recordSavepoint(words, name)
}

func (s *Session) recordSavepoint(words []string, name string) error {
	at := -1
	for i, text := range s.txn.opening {
		if strings.EqualFold(text, "SAVEPOINT "+name) {
			at = i
		}
	}
	switch {
	case strings.EqualFold(words[0], "SAVEPOINT"):
		if at >= 0 {
			s.txn.opening = append(s.txn.opening[:at], s.txn.opening[at+1:]...)
		}
		s.txn.opening = append(s.txn.opening, "SAVEPOINT "+name)
	case at < 0 && len(s.txn.branches) == 0:
		return fail(erSavepoint, "42000", "SAVEPOINT %s does not exist", name)
	case at >= 0 && strings.EqualFold(words[0], "RELEASE"):
		s.txn.opening = s.txn.opening[:at]
	case at >= 0:
		s.txn.opening = s.txn.opening[:at+1]
	}
	return nil
}
