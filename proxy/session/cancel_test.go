package session

import (
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
)

// A statement that is cancelled while there is no connection for it yet is not
// sent: nobody would end it afterwards.
func TestCancelledBeforeItIsSent(t *testing.T) {
	const update = "UPDATE orders SET amount = 1 WHERE user_id = 4711"
	for name, before := range map[string][]byte{"alone": nil, "in a transaction": textCommand("BEGIN"), "in one that has a shard": textCommand(hotSelect4711)} {
		t.Run(name, func(t *testing.T) {
			c := newHotClient(t, backend.Capabilities)
			if before != nil {
				c.run(textCommand("BEGIN"), before)
			}
			kill := func() {
				if first, err := c.session.Cancel(t.Context(), Killed, 0); !first || err != nil {
					t.Errorf("cancelled: %t, %v", first, err)
				}
			}
			c.planning.Store(&kill)
			c.send(textCommand(update))
			if code := c.outcome(wire.QueryResponse); code != mysql.ER_QUERY_INTERRUPTED {
				t.Errorf("error %d", code)
			}
			if n := c.shard.changes.Load(); n != 0 {
				t.Errorf("the shard has had %d UPDATEs", n)
			}
			c.run(textCommand(update)) // the session goes on
		})
	}
}

// A server forgets a kill that comes before it has begun to read the statement:
// who cancels again has it killed again.
func TestCancelledAgain(t *testing.T) {
	c := newHotClient(t, backend.Capabilities)
	c.shard.forgets.Store(1)
	c.send(textCommand("DO SLEEP(1000)"))
	<-c.shard.asleep
	if first, err := c.session.Cancel(t.Context(), Killed, 0); !first || err != nil {
		t.Fatalf("cancelled: %t, %v", first, err)
	}
	for c.shard.forgets.Load() >= 0 {
		if first, err := c.session.Cancel(t.Context(), TimedOut, 0); first || err != nil {
			t.Fatalf("cancelled again: %t, %v", first, err)
		}
		time.Sleep(time.Millisecond)
	}
	if code := c.outcome(wire.QueryResponse); code != mysql.ER_QUERY_INTERRUPTED {
		t.Errorf("error %d: the first reason counts", code)
	}
	c.run(textCommand(hotSelect4711))
}

// The watcher asks again for the end of what was cancelled, ever more rarely.
func TestExamineInsists(t *testing.T) {
	c := newHotClient(t, backend.Capabilities)
	c.send(textCommand("DO SLEEP(1000)"))
	<-c.shard.asleep
	c.session.awaited.mu.Lock()
	c.session.phase.Store(cancelled)
	c.session.stop.reason = TimedOut
	c.session.awaited.mu.Unlock()
	began := time.Now()
	var asked []time.Duration
	for at := time.Duration(0); at <= time.Minute; at += 250 * time.Millisecond {
		reason, command := c.session.Examine(began.Add(at), Allowance{})
		if reason == 0 {
			continue
		}
		if reason != TimedOut || command != c.session.served.Load() {
			t.Errorf("after %v: reason %d, command %d", at, reason, command)
		}
		asked = append(asked, at)
	}
	if len(asked) != 11 || asked[0] != 250*time.Millisecond || asked[10]-asked[9] != mostInsist {
		t.Errorf("asked after %v", asked)
	}
	c.shard.kills <- struct{}{}
	c.outcome(wire.QueryResponse)
}

// A client that has just logged in has been silent for no time.
func TestExamineANewSession(t *testing.T) {
	c := newHotClient(t, backend.Capabilities)
	now := time.Now()
	for at, want := range []Reason{0, 0, Silent} {
		if reason, _ := c.session.Examine(now.Add(time.Duration(at)*time.Second), Allowance{Idle: 2 * time.Second}); reason != want {
			t.Errorf("after %d s: reason %d, want %d", at, reason, want)
		}
	}
}
