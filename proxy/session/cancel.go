package session

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/wire"
)

// phase is where a session stands between commands and in one.
type phase = int32

const (
	// idle: no command is under way.
	idle phase = iota
	// running: it may be cancelled.
	running
	// finishing: what it does now would leave its effect unknown if it were cut
	// off, a commit.
	finishing
	// cancelled: somebody wants it to end.
	cancelled
)

// Reason is why a statement is cancelled.
type Reason int32

const (
	// Killed by KILL.
	Killed Reason = iota + 1
	// TimedOut: it ran for longer than the user or the session may.
	TimedOut
	// ClientGone: nobody waits for its answer.
	ClientGone
	// ShuttingDown: the proxy ends.
	ShuttingDown
	// Silent: the client has sent no command for too long. There is none to be
	// cancelled.
	Silent
	// HandedOver: its rows' genes are handed to another shard.
	HandedOver
)

// error is what the client is told.
func (r Reason) error(f flavor.Flavor) *mysql.MyError {
	switch r {
	case TimedOut:
		return f.TimedOut()
	case ShuttingDown:
		return fail(mysql.ER_SERVER_SHUTDOWN, stateLink, "locus is shutting down; the statement was interrupted")
	case HandedOver:
		return fail(erDeadlock, "40001", "%v; try restarting transaction", errYielded)
	case Killed, ClientGone, Silent:
	}
	return fail(mysql.ER_QUERY_INTERRUPTED, stateInterrupted, "Query execution was interrupted")
}

// cancellation is the part of a session that ends the command under way when
// somebody else wants it. The hot path sees one atomic word of it.
type cancellation struct {
	// reason, asked and shielded are under the mutex of awaited, as cancel is.
	reason   Reason
	asked    time.Time // when the shards were asked last to end what they run
	shielded bool      // no more: what runs now must not be cut off
	// waits ends with the command's cancellation; it is what the session waits by
	// for connections and IDs. It is replaced after a cancellation.
	waits  context.Context
	cancel context.CancelCauseFunc
}

// patience makes waits anew.
func (s *Session) patience() {
	s.awaited.mu.Lock()
	defer s.awaited.mu.Unlock()
	s.stop.waits, s.stop.cancel = context.WithCancelCause(s.ctx)
}

// insistPause is how long shards are left alone after they were asked to end what
// they run.
const insistPause = 200 * time.Millisecond

// Cancel ends the statement of a command that is under way: command is its
// number as [Session.Served] gave it, 0 for whichever it is. It tells false if
// there is nothing that could be ended: no command, another one, or a commit; and
// for one that was cancelled before. The shards are asked to end what they run,
// which takes as long as ctx at most; an error says which of them could not be.
//
// A server forgets a kill of a statement that it has not begun to read. Whoever
// needs the end cancels again until it has come: then the shards are asked again.
func (s *Session) Cancel(ctx context.Context, reason Reason, command uint64) (bool, error) {
	conns, first := s.cancelling(reason, command)
	if len(conns) == 0 {
		return first, nil
	}
	return first, s.awaited.kill(ctx, conns)
}

// cancelling marks the command as cancelled, and its connections as killed: those
// are to be asked to end what they run. It tells whether it was the first to.
func (s *Session) cancelling(reason Reason, command uint64) (conns []awaitedConn, first bool) {
	s.awaited.mu.Lock()
	defer s.awaited.mu.Unlock()
	if command != 0 && command != s.served.Load() {
		return nil, false
	}
	first = s.phase.CompareAndSwap(running, cancelled)
	now := time.Now()
	switch {
	case first:
		s.stop.reason = reason
		s.stop.cancel(reason.error(s.flavor()))
	case s.phase.Load() != cancelled, s.stop.shielded, now.Sub(s.stop.asked) < insistPause:
		return nil, false
	}
	s.stop.asked = now
	if len(s.awaited.conns) == 0 {
		return nil, first
	}
	s.awaited.killing++
	for i := range s.awaited.conns {
		s.awaited.conns[i].killed = true
	}
	return slices.Clone(s.awaited.conns), first
}

// unwanted is why a statement is not to be sent any more; nil: it is.
func (s *Session) unwanted() error {
	if s.phase.Load() != cancelled {
		return nil
	}
	s.awaited.mu.Lock()
	defer s.awaited.mu.Unlock()
	return s.unwantedNow()
}

func (s *Session) unwantedNow() error {
	if s.phase.Load() != cancelled || s.stop.shielded {
		return nil
	}
	return s.stop.reason.error(s.flavor())
}

// await makes a connection that was borrowed one of those that a cancellation
// ends. If it has come already, nobody would end what is sent now: the connection
// goes back, and the error says why.
func (s *Session) await(pool *backend.Pool, c *backend.Conn) error {
	s.awaited.mu.Lock()
	err := s.unwantedNow()
	if err == nil {
		s.awaited.add(pool, c)
	}
	s.awaited.mu.Unlock()
	if err != nil {
		pool.Return(c)
	}
	return err
}

// CutOff ends the wait of a command that was cancelled for shards that could not be
// asked to end what they run: it fails, and its client is told that the effect is
// unknown. The session goes on.
func (s *Session) CutOff() {
	s.awaited.mu.Lock()
	defer s.awaited.mu.Unlock()
	if s.phase.Load() != cancelled { // it has ended by itself
		return
	}
	for _, c := range s.awaited.conns {
		c.conn.Interrupt()
	}
}

// recover makes the session usable after a command that was cancelled. A kill
// that came too late for its statement would hit the next one on the connections
// that the session keeps: an empty statement takes the blow.
func (s *Session) recover() {
	s.absorb()
	s.patience()
}

// absorb runs an empty statement on each connection that was killed and is still
// the session's.
func (s *Session) absorb() {
	struck := s.awaited.struck()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), undoTime)
	defer cancel()
	for _, c := range struck {
		status := c.Status()
		if _, err := c.Own().Exec(ctx, "DO 0"); err != nil { // that was its purpose
			c.SetStatus(status)
		}
	}
}

// shield keeps a commit from being cancelled; unshield ends that.
func (s *Session) shield() {
	if s.phase.CompareAndSwap(running, finishing) || s.phase.Load() != cancelled {
		return
	}
	s.setShielded(true)
	s.absorb() // the statement before it was cancelled
}

func (s *Session) unshield() {
	if !s.phase.CompareAndSwap(finishing, running) {
		s.setShielded(false)
	}
}

func (s *Session) setShielded(shielded bool) {
	s.awaited.mu.Lock()
	defer s.awaited.mu.Unlock()
	s.stop.shielded = shielded
}

// interruptedBy is why the command under way is cancelled; 0: it isn't.
func (s *Session) interruptedBy() Reason {
	if s.phase.Load() != cancelled {
		return 0
	}
	s.awaited.mu.Lock()
	defer s.awaited.mu.Unlock()
	return s.stop.reason
}

// Kill ends the session: a statement under way is cancelled, and its client is
// told so and cut off; an open transaction is rolled back.
func (s *Session) Kill(ctx context.Context) error {
	s.killed.Store(true)
	s.interrupted.Store(true)
	cancelled, err := s.Cancel(ctx, Killed, 0)
	switch {
	case err != nil:
		s.Interrupt() // it may not end by itself
	case !cancelled && s.phase.Load() != finishing:
		_ = s.client.Close() // a command that has just begun is found by the watcher
	}
	return err
}

// overdue is a deadline of one command, which the session sets itself.
type overdue struct {
	command uint64
	at      time.Time
}

// ownLimit is the time that the session itself allows a statement, as the servers
// have it: max_execution_time in milliseconds, max_statement_time in seconds.
func (s *Session) ownLimit() time.Duration {
	for name, unit := range map[string]time.Duration{"max_execution_time": time.Millisecond, "max_statement_time": time.Second} {
		if literal, ok := s.settings.Lookup(name); ok {
			if n, err := strconv.ParseFloat(strings.Trim(literal, "'"), 64); err == nil && n > 0 && n < 1e9 {
				return time.Duration(n * float64(unit))
			}
		}
	}
	return 0
}

// limit has the command under way cancelled at a time.
func (s *Session) limit(at time.Time) {
	s.awaited.mu.Lock()
	defer s.awaited.mu.Unlock()
	s.deadline = overdue{s.served.Load(), at}
}

// expired tells whether the session's own deadline of a command has passed.
func (s *Session) expired(command uint64, now time.Time) bool {
	s.awaited.mu.Lock()
	defer s.awaited.mu.Unlock()
	return s.deadline.command == command && now.After(s.deadline.at)
}

// interruption is last, or for a statement that was cancelled an ending that says
// why, and for one before others of the same text one that quotes those too.
func (s *Session) interruption(last ending) ending {
	if s.phase.Load() != cancelled && len(s.behind) == 0 {
		return last
	}
	return func(dst, packet []byte) ([]byte, error) {
		switch {
		case wire.IsERR(packet[wire.HeaderSize:]):
			e, err := wire.ParseERR(packet[wire.HeaderSize:])
			if err != nil {
				return nil, err
			}
			_, seq := wire.Header(packet)
			dst, _ = wire.AppendERR(dst, seq, s.nearest(s.reworded(e)), s.capabilities)
			return dst, nil
		case last == nil:
			return append(dst, packet...), nil
		}
		return last(dst, packet)
	}
}
