package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/twophase"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// statusReadOnly is SERVER_STATUS_IN_TRANS_READONLY.
const statusReadOnly = 0x2000

// What a commit over several shards may wait: for each of its phases, and for the
// home shard to tell what became of a commit whose answer was lost.
const (
	phaseTime  = 60 * time.Second
	settleTime = 10 * time.Second
)

// span lets a further shard join, and gives the transaction its name.
func (s *Session) span(shard router.ShardName) error {
	home := s.txn.branches[0].shard
	for _, name := range []router.ShardName{home, shard} {
		if err := s.Coordinator.Ready(s.ctx, name); err != nil {
			return apart(home, shard, err)
		}
	}
	if s.txn.name == (twophase.Name{}) {
		s.txn.name = s.Coordinator.Name(home)
	}
	return nil
}

// apart is why a transaction can't span two shards. If one of them only can't be
// asked now, the statement may be tried again; the transaction is as it was.
func apart(home, shard router.ShardName, err error) error {
	message := fmt.Sprintf("this transaction is on shard %s and the statement needs shard %s, and it can't be committed on both at once: %v", home, shard, err)
	if _, lacks := errors.AsType[*twophase.LackError](err); lacks {
		return &plan.Refusal{Code: plan.TransactionUnsafe, Message: message}
	}
	if twophase.Busy(err) {
		return fail(mysql.ER_LOCK_WAIT_TIMEOUT, stateGeneral, "%s; the statement was not run", message)
	}
	return fail(erNetRead, stateLink, "%s; the statement was not run", message)
}

// openingXA is what a shard that joins as an XA branch is sent first: XA START in
// place of what began the transaction.
func (t *transaction) openingXA() []string {
	list := make([]string, 0, len(t.marks)+3)
	if t.scope != "" {
		list = append(list, t.scope)
	}
	if t.how.Access != stmt.AnyAccess {
		list = append(list, "SET TRANSACTION "+t.how.Access.String())
	}
	list = append(list, t.name.Start())
	return append(list, t.opening[len(t.opening)-len(t.marks):]...)
}

// writing notes that a statement may change something on a shard, so that its
// part can't be left out of the two phases.
func (s *Session) writing(l lease, r *request) lease {
	if s.Spanning != XA || !mayWrite(r.plan) {
		return l
	}
	l.wrote = true
	if b := s.txn.on(l.shard); b != nil {
		b.wrote = true
	}
	return l
}

// mayWrite tells whether a statement may change something. A stored function may.
func mayWrite(p *plan.Plan) bool {
	if p.Writes {
		return true
	}
	switch p.Statement.Kind {
	case stmt.Select:
		return runsCode(p)
	case stmt.Show, stmt.Explain:
		return false
	default:
		return true
	}
}

// temporaryWithin is MySQL's limit: a shard that joins does so by XA, within which it
// has no temporary tables.
func temporaryWithin(home, shard router.ShardName) error {
	return &plan.Refusal{Code: plan.TransactionUnsafe, Message: fmt.Sprintf(
		"this transaction began on shard %s, and temporary tables are on shard %s, where MySQL has none within a transaction of several shards: commit first, or begin the transaction with a statement on them", home, shard)}
}

func endsByItself(home router.ShardName) error {
	return &plan.Refusal{Code: plan.TransactionUnsafe, Message: fmt.Sprintf(
		"this transaction is on several shards, and a procedure, or a statement that may commit by itself, could end it on shard %s alone: commit first", home)}
}

// commitSpanning commits a transaction of several shards, wholly or not at all.
// The parts that have only read end first. If only one has written, its commit is
// the whole; else there are two phases.
func (s *Session) commitSpanning() error {
	for i := range s.txn.branches {
		b := &s.txn.branches[i]
		b.wrote = b.wrote && b.conn.Status()&statusReadOnly == 0 // else what it tried was refused
	}
	home, readers, writers := s.txn.branches[0], []branch(nil), []branch(nil)
	for _, b := range s.txn.branches {
		if b.wrote {
			writers = append(writers, b)
		} else if b.shard != home.shard {
			readers = append(readers, b)
		}
	}
	if len(writers) <= 1 && !home.wrote {
		readers = append(readers, home)
	}
	if err := s.endReaders(readers, home, writers); err != nil {
		return err
	}
	if len(writers) == 0 {
		s.Counts.Transactions.count(len(s.txn.branches), twophase.Committed)
		s.txn.end()
		return nil
	}
	if len(writers) == 1 {
		return s.commitOnly(writers[0])
	}
	return s.commitTwoPhase(home, writers)
}

// endReaders ends what has only read. If that fails, its locks are gone, so the
// whole is rolled back.
func (s *Session) endReaders(readers []branch, home branch, writers []branch) error {
	ctx, cancel := context.WithTimeout(s.awaiting, phaseTime)
	defer cancel()
	errs := s.ask(ctx, readers, func(b branch) []string {
		if b.xa {
			return []string{s.txn.name.End(), s.txn.name.CommitOnePhase()}
		}
		return []string{"COMMIT"}
	}, nil)
	var failure error
	for i, b := range readers {
		if errs[i] == nil {
			s.giveBack(b)
			continue
		}
		failure = errors.Join(failure, errs[i])
		s.discard(b)
	}
	if failure == nil {
		return nil
	}
	rest := slices.Clone(writers)
	if !home.wrote && !slices.ContainsFunc(readers, func(b branch) bool { return b.shard == home.shard }) {
		rest = append(rest, home)
	}
	return s.commitEnded(twophase.RolledBack, func() { s.rollback(rest) }, failure)
}

// commitOnly commits the one part that has written.
func (s *Session) commitOnly(b branch) error {
	err := s.commitOne(s.awaiting, b)
	if err == nil {
		s.giveBack(b)
		return s.commitEnded(twophase.Committed, func() {}, nil)
	}
	s.discard(b) // a branch that was refused to end is good for nothing
	n := len(s.txn.branches)
	s.txn.end()
	return s.commitFailure(err, b.shard, nil, nil, n)
}

// commitOne commits one branch by itself.
func (s *Session) commitOne(ctx context.Context, b branch) error {
	if !b.xa {
		_, err := b.conn.Own().Exec(ctx, "COMMIT")
		return err
	}
	if _, err := b.conn.Own().Exec(ctx, s.txn.name.End()); err != nil {
		return err
	}
	_, err := b.conn.Own().Exec(ctx, s.txn.name.CommitOnePhase())
	return err
}

// rollbackOne rolls one branch back. It may be in a state in which it can't be
// ended, after a deadlock, or be rolled back already.
func (s *Session) rollbackOne(ctx context.Context, b branch) error {
	if !b.xa {
		_, err := b.conn.Own().Exec(ctx, "ROLLBACK")
		return err
	}
	if !b.prepared {
		if _, err := b.conn.Own().Exec(ctx, s.txn.name.End()); err != nil && !refused(err) {
			return err
		}
	}
	_, err := b.conn.Own().Exec(ctx, s.txn.name.Rollback())
	return err
}

// ask sends each branch its statements before any answer is awaited, and gives
// the first error of each. Read, if not nil, hears of each branch's last answer.
func (s *Session) ask(ctx context.Context, branches []branch, texts func(branch) []string, read func(i int)) []error {
	errs := make([]error, len(branches))
	counts := make([]int, len(branches))
	for i, b := range branches {
		defer b.conn.Watch(ctx)()
		list := texts(b)
		counts[i] = len(list)
		out := s.out[:0]
		for _, text := range list {
			out, _ = appendQuery(out, text)
		}
		s.out = out
		errs[i] = b.conn.Send(out, backend.Nothing)
	}
	for i, b := range branches {
		for range counts[i] {
			if errs[i] != nil && !refused(errs[i]) {
				break
			}
			if _, err := s.outcome(b.conn); err != nil && (errs[i] == nil || !refused(err)) {
				errs[i] = err
			}
		}
		switch {
		case errs[i] == nil && read != nil:
			read(i)
		case errs[i] != nil && refused(errs[i]): // other errors name the shard
			errs[i] = fmt.Errorf("shard %s: %w", b.shard, errs[i])
		}
	}
	return errs
}

func refused(err error) bool {
	_, ok := errors.AsType[*backend.ServerError](err)
	return ok
}

// commitEnded ends the transaction and says what became of it.
func (s *Session) commitEnded(v twophase.Verdict, clean func(), err error) error {
	s.Counts.Transactions.count(len(s.txn.branches), v)
	home := s.txn.branches[0].shard
	clean()
	s.txn.end()
	if v == twophase.Committed {
		return nil
	}
	code, state := uint16(erCommitError), stateGeneral
	if e, ok := errors.AsType[*mysql.MyError](err); ok {
		code, state = e.Code, e.State
		if twophase.EndsTransaction(code) {
			code, state = erDeadlock, "40001"
		}
	}
	if v == twophase.RolledBack {
		return fail(code, state, "commit: %v; the transaction was rolled back on every shard", err)
	}
	return fail(erCommitError, stateGeneral, "commit: %v; whether the transaction was committed is not known yet: "+
		"it is committed on every shard or on none, as shard %s will tell when it answers; read it back", err, home)
}
