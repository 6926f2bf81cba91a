package session

import (
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/session/interrupt"
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
				if first, err := c.session.Interrupts().Cancel(t.Context(), interrupt.Killed, 0); !first || err != nil {
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
	if first, err := c.session.Interrupts().Cancel(t.Context(), interrupt.Killed, 0); !first || err != nil {
		t.Fatalf("cancelled: %t, %v", first, err)
	}
	for c.shard.forgets.Load() >= 0 {
		if first, err := c.session.Interrupts().Cancel(t.Context(), interrupt.TimedOut, 0); first || err != nil {
			t.Fatalf("cancelled again: %t, %v", first, err)
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // between two that ask again
	}
	if code := c.outcome(wire.QueryResponse); code != mysql.ER_QUERY_INTERRUPTED {
		t.Errorf("error %d: the first reason counts", code)
	}
	c.run(textCommand(hotSelect4711))
}

// A client that is told that its transaction was rolled back for a fence doesn't find it open: its next BEGIN would commit.
func TestPreemptedInATransaction(t *testing.T) {
	c := newHotClient(t, backend.Capabilities)
	c.run(textCommand("BEGIN"), textCommand(hotSelect4711))
	c.send(textCommand("DO SLEEP(1000)"))
	<-c.shard.asleep
	if first, err := c.session.Interrupts().Cancel(t.Context(), interrupt.Preempted, 0); !first || err != nil {
		t.Fatalf("cancelled: %t, %v", first, err)
	}
	if code := c.outcome(wire.QueryResponse); code != mysql.ER_LOCK_DEADLOCK {
		t.Errorf("error %d", code)
	}
	c.run(textCommand(hotSelect4711))
	if c.scanner.Status()&mysql.SERVER_STATUS_IN_TRANS != 0 {
		t.Error("its transaction is open")
	}
}
