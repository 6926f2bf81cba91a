package session_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"locus/internal/test/fakeshard"
	"locus/proxy/interrupt"
)

// A server forgets a kill that arrives before it has started to read the statement. A repeated cancellation sends the kill again.
func TestCancelledAgain(t *testing.T) {
	s := newStand(t, usual())
	p, _ := s.join("app", "shop")
	shard := s.shards["s1"]
	shard.Next(fakeshard.Reply{Prefix: "UPDATE", Waits: true}, fakeshard.Reply{Prefix: "KILL", Forgets: true})
	p.send([]byte("\x03UPDATE orders SET amount = 1 WHERE user_id = 3"))
	<-shard.Asleep()
	h := p.session.Interrupts()
	if first, err := h.Cancel(t.Context(), interrupt.Killed, 0); !first || err != nil {
		t.Fatalf("cancelled: %t, %v", first, err)
	}
	pause := time.NewTicker(time.Millisecond) // between two cancellations
	defer pause.Stop()
	for len(shard.Unmet()) > 0 || h.Cancelled() {
		if first, err := h.Cancel(t.Context(), interrupt.TimedOut, 0); first || err != nil {
			t.Fatalf("cancelled again: %t, %v", first, err)
		}
		<-pause.C
	}
	if told := p.answer(nil, false); !strings.HasPrefix(told[0], "error 1317") {
		t.Errorf("%q: the first reason counts", told)
	}
	kills := slices.DeleteFunc(shard.Heard(), func(c fakeshard.Command) bool { return !strings.HasPrefix(c.Text, "KILL") })
	if len(kills) != 2 {
		t.Errorf("killed by %v", kills)
	}
}
