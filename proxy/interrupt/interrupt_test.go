package interrupt

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/flavor"
)

// fixture is a session with a connection that has a command under way.
type fixture struct {
	*Handle
	client *fakeClient
	conn   *fakeConn
}

func begun(t *testing.T) fixture {
	t.Helper()
	client, conn := newFakeClient(), &fakeConn{thread: 7}
	f := fixture{New(t.Context(), client, mariaDB), client, conn}
	t.Cleanup(f.Leave)
	f.Begin()
	if err := f.Await(conn, conn); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f fixture) cancelled(t *testing.T, reason Reason, want bool) {
	t.Helper()
	if first, err := f.Cancel(t.Context(), reason, 0); first != want || err != nil {
		t.Errorf("cancelled: %t, %v", first, err)
	}
}

func TestWhatIsSentAfterACancellation(t *testing.T) {
	f := begun(t)
	if f.Unwanted() != nil || f.Reason() != 0 || f.Waits().Err() != nil {
		t.Error("a command that nobody wants to end")
	}
	f.cancelled(t, TimedOut, true)
	f.cancelled(t, Killed, false)
	var e *mysql.MyError
	if !errors.As(f.Unwanted(), &e) || e.Code != flavor.MariaDB.TimedOut().Code || f.Reason() != TimedOut {
		t.Errorf("%v: the first reason counts", e)
	}
	if err := f.Await(f.conn, &fakeConn{thread: 8}); err == nil || f.Thread("s0") != 7 || f.Thread("s1") != 0 {
		t.Errorf("a connection is lent: %v", err)
	}
	if cause := context.Cause(f.Waits()); !errors.As(cause, &e) || e.Code != flavor.MariaDB.TimedOut().Code {
		t.Errorf("what waits ends with %v", cause)
	}
	if f.End(false); f.conn.absorbed != 1 || f.Waits().Err() != nil || f.Unwanted() != nil {
		t.Errorf("afterwards: absorbed %d times", f.conn.absorbed)
	}
	if f.Remove(f.conn) {
		t.Error("the kill was absorbed")
	}
	f.cancelled(t, Killed, false)
}

func TestOnlyTheCommandThatIsMeantIsCancelled(t *testing.T) {
	f := begun(t)
	one, busy := f.Command()
	if one != 1 || !busy {
		t.Errorf("command %d, busy: %t", one, busy)
	}
	f.End(false)
	f.Begin()
	if first, err := f.Cancel(t.Context(), TimedOut, one); first || err != nil || f.Cancelled() {
		t.Errorf("%t, %v: it is over", first, err)
	}
	if first, _ := f.Cancel(t.Context(), TimedOut, one+1); !first {
		t.Error("the one under way is not cancelled")
	}
	if !f.Remove(f.conn) {
		t.Error("a kill may still come")
	}
}

// A server ignores a kill that arrives before it has begun to read the statement. If the statement is cancelled
// again, the kill is repeated, but not at once.
func TestShardsAreAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, kills := begun(t), 0
		f.conn.kill = func(_ context.Context, thread uint32) error {
			kills++
			return nil
		}
		f.cancelled(t, Killed, true)
		f.cancelled(t, Killed, false)
		if kills != 1 {
			t.Errorf("asked %d times at once", kills)
		}
		<-time.After(insistPause)
		if f.cancelled(t, Killed, false); kills != 2 {
			t.Errorf("asked %d times", kills)
		}
	})
}

// TestShardsThatCantBeAsked checks the end of a command whose shard can't receive a kill.
func TestShardsThatCantBeAsked(t *testing.T) {
	for _, test := range []struct {
		reason      Reason
		interrupted int
		closed      bool
	}{{Killed, 0, false}, {ShuttingDown, 0, false}, {Preempted, 1, false}, {TimedOut, 1, true}, {ClientGone, 1, true}} {
		f := begun(t)
		f.conn.kill = away
		if first, err := f.Cancel(t.Context(), test.reason, 0); !first || !errors.Is(err, errAway) {
			t.Errorf("reason %d: %t, %v", test.reason, first, err)
		}
		if f.conn.interrupted != test.interrupted || f.client.isClosed() != test.closed || f.MustEnd() != test.closed {
			t.Errorf("reason %d: interrupted %d times, closed: %t", test.reason, f.conn.interrupted, f.client.isClosed())
		}
	}
}

func TestACommitIsNotCutOff(t *testing.T) {
	f := begun(t)
	f.Shield()
	f.cancelled(t, Preempted, false)
	if err := f.Kill(t.Context()); err != nil || f.client.isClosed() || !f.MustEnd() {
		t.Errorf("killed: %v, closed: %t", err, f.client.isClosed())
	}
	f.Unshield()
	f.cancelled(t, Preempted, true)
}

// If a kill for a cancelled statement could not be sent, it must not hit the commit that follows.
func TestACommitBehindACancelledStatementIsNotCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, reason := range []Reason{Preempted, TimedOut, ClientGone} {
			f, asked, answer := begun(t), make(chan struct{}), make(chan struct{})
			f.conn.kill = func(context.Context, uint32) error {
				close(asked)
				<-answer
				return errAway
			}
			other := &fakeConn{thread: 8}
			if err := f.Await(other, other); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = f.Cancel(t.Context(), reason, 0) }()
			<-asked
			shielded := make(chan struct{})
			go func() {
				f.Shield()
				close(shielded)
			}()
			synctest.Wait()
			select {
			case <-shielded:
				t.Error("a kill is under way")
			default:
			}
			close(answer)
			<-shielded
			synctest.Wait()
			if f.conn.interrupted+other.interrupted != 0 || other.absorbed != 1 || f.Unwanted() != nil {
				t.Errorf("reason %d: interrupted %d and %d times", reason, f.conn.interrupted, other.interrupted)
			}
			f.Unshield()
			if f.Unwanted() == nil {
				t.Error("behind the commit it is unwanted again")
			}
		}
	})
}

func TestKill(t *testing.T) {
	f := begun(t)
	if err := f.Kill(t.Context()); err != nil || !f.MustEnd() || f.client.isClosed() {
		t.Errorf("%v: its client is told", err)
	}
	f.End(false)
	if err := f.Kill(t.Context()); err != nil || !f.client.isClosed() {
		t.Errorf("%v: there is nobody to be told", err)
	}
	f = begun(t)
	f.conn.kill = away
	if err := f.Kill(t.Context()); !errors.Is(err, errAway) || !f.client.isClosed() || f.conn.interrupted != 1 {
		t.Errorf("%v: it is cut off", err)
	}
}

func TestAbort(t *testing.T) {
	f, further := begun(t), &fakeConn{thread: 8}
	f.Abort()
	if err := f.Await(further, further); err != nil || f.conn.interrupted != 1 || further.interrupted != 1 || !f.client.isClosed() {
		t.Errorf("%v: interrupted %d and %d times", err, f.conn.interrupted, further.interrupted)
	}
	if f.End(true); f.MustEnd() {
		t.Error("a transaction goes on to the end of its connections")
	}
	if f.RolledBack(); !f.MustEnd() {
		t.Error("there is none any more")
	}
}

// The watcher repeats the kill of a cancelled statement, at growing intervals.
func TestExamineInsists(t *testing.T) {
	f, now := begun(t), time.Now()
	f.cancelled(t, TimedOut, true)
	var asked []time.Duration
	for at := time.Duration(0); at <= time.Minute; at += 250 * time.Millisecond {
		reason, number := f.Examine(now.Add(at), Allowance{})
		if reason == 0 {
			continue
		}
		if reason != TimedOut || number != 1 {
			t.Errorf("after %v: reason %d, command %d", at, reason, number)
		}
		asked = append(asked, at)
	}
	if len(asked) != 11 || asked[0] != 250*time.Millisecond || asked[10]-asked[9] != mostInsist {
		t.Errorf("asked after %v", asked)
	}
}

func TestExamine(t *testing.T) {
	now, second := time.Now(), time.Second
	at := func(n int) time.Time { return now.Add(time.Duration(n) * second) }
	f := begun(t)
	for n, want := range []Reason{0, 0, TimedOut} {
		if reason, number := f.Examine(at(n), Allowance{Statement: 2 * second}); reason != want || number != 0 && reason == 0 {
			t.Errorf("after %d s: reason %d of command %d", n, reason, number)
		}
	}
	if took := f.Elapsed(at(5)); took != 5*second {
		t.Errorf("it has been seen for %v", took)
	}
	f.Limit(at(3))
	if reason, _ := f.Examine(at(3), Allowance{}); reason != 0 {
		t.Errorf("reason %d at its own limit", reason)
	}
	if reason, _ := f.Examine(at(4), Allowance{}); reason != TimedOut {
		t.Errorf("reason %d behind its own limit", reason)
	}
	f.End(false)
	f.Begin()
	f.Unlimited()
	for n := range 3 {
		if reason, _ := f.Examine(at(10+n), Allowance{Statement: second}); reason != 0 {
			t.Errorf("reason %d of a command that has no limit", reason)
		}
	}
	f.End(false)
	f.Begin()
	for n, want := range []Reason{0, TimedOut} {
		if reason, _ := f.Examine(at(20+n), Allowance{Statement: second}); reason != want {
			t.Errorf("reason %d of the command behind it", reason)
		}
	}
	f.End(false)
	f.Begin()
	f.client.gone = true
	for n, want := range []Reason{0, ClientGone} {
		if reason, _ := f.Examine(at(n+5), Allowance{}); reason != want {
			t.Errorf("the limit is the other command's: reason %d, want %d", reason, want)
		}
	}
}

// A client that has just logged in has been silent for no time.
func TestExamineASilentSession(t *testing.T) {
	now := time.Now()
	h := New(t.Context(), newFakeClient(), mariaDB)
	t.Cleanup(h.Leave)
	if h.Elapsed(now) != 0 {
		t.Error("nobody has seen it")
	}
	for at, want := range []Reason{0, 0, Silent} {
		if reason, _ := h.Examine(now.Add(time.Duration(at)*time.Second), Allowance{Idle: 2 * time.Second}); reason != want {
			t.Errorf("after %d s: reason %d, want %d", at, reason, want)
		}
	}
	h.LimitIdle(time.Minute)
	if reason, _ := h.Examine(now.Add(3*time.Second), Allowance{Idle: 2 * time.Second}); reason != 0 {
		t.Errorf("reason %d: it allows itself more", reason)
	}
}

func TestDrain(t *testing.T) {
	client := newFakeClient()
	h := New(t.Context(), client, mariaDB)
	t.Cleanup(h.Leave)
	if h.Begin() {
		t.Error("nobody drains")
	}
	h.Drain()
	h.Dismiss()
	h.End(true)
	h.Dismiss()
	if client.isClosed() || !h.Begin() {
		t.Error("something was under way")
	}
	h.Want()
	h.End(false)
	if h.Dismiss(); !client.isClosed() || h.Wanted() != 1 {
		t.Errorf("wanted %d", h.Wanted())
	}
}

func TestWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := begun(t)
		f.Wake() // while the command runs
		f.Wake()
		if woken, err := f.Fill(); !woken || err != nil {
			t.Errorf("%t, %v", woken, err)
		}
		go func() {
			synctest.Wait()
			f.Wake()
		}()
		if woken, err := f.Fill(); !woken || err != nil {
			t.Errorf("%t, %v", woken, err)
		}
		f.client.sends <- struct{}{}
		if woken, err := f.Fill(); woken || err != nil {
			t.Errorf("%t, %v: the client has sent something", woken, err)
		}
		_ = f.client.SetReadDeadline(time.Unix(1, 0))
		if woken, err := f.Fill(); woken || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%t, %v: it was not woken", woken, err)
		}
	})
}

func TestWhatClientsAreTold(t *testing.T) {
	codes := map[Reason]uint16{Killed: 1317, TimedOut: 3024, ClientGone: 1317, ShuttingDown: 1053, Silent: 1317, Preempted: 1213}
	for reason, code := range codes {
		if e := reason.Error(flavor.MySQL); e.Code != code {
			t.Errorf("reason %d: %v", reason, e)
		}
	}
}
