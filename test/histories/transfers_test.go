package histories

import (
	"context"
	"strings"
	"time"
)

// transfer moves money between two accounts, and records the transfer in the journal, in one transaction. If the connection
// breaks before the commit, all of it is rolled back.
func (s *talk) transfer() {
	id, from, to, amount := s.values.Add(1), s.random.Int64N(accounts), s.random.Int64N(accounts), 1+s.random.Int64N(20)
	if from == to {
		to = (to + 1) % accounts
	}
	o := s.transferred(id, from, to, amount)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transfers[id] = o
}

func (s *talk) transferred(id, from, to, amount int64) outcome {
	run := func(uid int64, query string, args ...any) error {
		_, _, _, err := s.exec(uid, query, args...)
		return err
	}
	first, second, sign := from, to, int64(-1)
	if to < from { // locks are taken in one order
		first, second, sign = to, from, 1
	}
	err := run(-1, "BEGIN")
	if err == nil {
		where, key := s.keyed("account", first)
		err = run(first, "UPDATE account SET balance = balance + ? WHERE "+where, sign*amount, key)
	}
	if err == nil {
		where, key := s.keyed("account", second)
		err = run(second, "UPDATE account SET balance = balance - ? WHERE "+where, sign*amount, key)
	}
	if err == nil {
		err = run(from, s.journals(), id, from, to, amount)
	}
	if err != nil {
		s.rollBack()
		return rolledBack
	}
	if s.dwell > 0 && s.random.IntN(2) == 0 {
		pause(context.Background(), time.Duration(s.random.Int64N(int64(s.dwell))))
	}
	if err = run(-1, "COMMIT"); err == nil {
		return committed
	}
	settled := s.settled(err) && !strings.Contains(err.Error(), "not known")
	s.rollBack()
	if settled {
		return rolledBack
	}
	return unknown
}

func (s *talk) rollBack() {
	if _, err := s.conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		s.broken = true
	}
}
