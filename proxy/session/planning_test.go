package session

import (
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/interrupt"
	"locus/proxy/snapshot"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// longRead is a text that is long enough to be planned in another goroutine.
var longRead = textCommand("SELECT COUNT(*) FROM orders WHERE id IN (1" + strings.Repeat(", 2", longText/3) + ")")

// fillPlanners occupies all places for long texts until the test ends.
func fillPlanners(t *testing.T) {
	t.Helper()
	for range cap(planners) {
		planners <- struct{}{}
	}
	t.Cleanup(func() {
		for range cap(planners) {
			<-planners
		}
	})
}

// A kill ends a long text that waits to be planned, or is being read. Short texts run meanwhile.
func TestPlanningIsCancelled(t *testing.T) {
	fillPlanners(t)
	c := newHotClient(t, backend.Capabilities)
	for name, packet := range map[string][]byte{
		"text": longRead, "several": textCommand("SELECT 1; " + string(longRead[wire.HeaderSize+1:])),
		"explained": textCommand("EXPLAIN " + string(longRead[wire.HeaderSize+1:])),
	} {
		kill := func() {
			if first, err := c.session.Interrupts().Cancel(t.Context(), interrupt.Killed, 0); !first || err != nil {
				t.Errorf("cancelled: %t, %v", first, err)
			}
		}
		c.atNextPlan(kill)
		c.send(packet)
		if code := c.outcome(wire.QueryResponse); code != mysql.ER_QUERY_INTERRUPTED {
			t.Errorf("%s: error %d", name, code)
		}
		c.run(textCommand(hotSelect4711))
	}
}

// A statement's time limit includes the time in which its text waits to be planned.
func TestPlanningTimesOut(t *testing.T) {
	fillPlanners(t)
	c := newHotClient(t, backend.Capabilities)
	limit := func() { c.session.vars.Settings = c.session.vars.Settings.With("max_statement_time", "0.001") }
	c.atNextPlan(limit)
	c.send(longRead)
	if code := c.outcome(wire.QueryResponse); code != flavor.MariaDB.TimedOut().Code {
		t.Errorf("error %d", code)
	}
}

// A session ends if its client disconnects while its text waits to be planned.
func TestPlanningEndsWithItsClient(t *testing.T) {
	fillPlanners(t)
	c := newHotClient(t, backend.Capabilities)
	c.send(longRead)
	_ = c.stream.Close() // the cleanup waits for the session's end
}

// Every function that reads a text returns the reason if the reading was stopped.
func TestReadingStops(t *testing.T) {
	var l stmt.Lexed
	asked := 0
	l.LexUntil(longRead, 0, func() bool { asked++; return true })
	if l.Err == nil || asked != 1 {
		t.Errorf("%v, asked %d times", l.Err, asked)
	}
}

// A panic of the planner fails the statement, and neither the session nor the process. Long texts are planned in another goroutine.
func TestPlannerPanics(t *testing.T) {
	c := newHotClient(t, backend.Capabilities)
	whole := c.session.Snapshot
	broken := *whole()
	broken.Catalog = nil
	for name, packet := range map[string][]byte{"short": textCommand("SELECT amount FROM orders WHERE user_id = 8"), "long": longRead} {
		c.awaitRest()
		c.session.Snapshot = func() *snapshot.Snapshot { return &broken }
		c.send(packet)
		if code := c.outcome(wire.QueryResponse); code != mysql.ER_UNKNOWN_ERROR {
			t.Errorf("%s: error %d", name, code)
		}
		c.awaitRest()
		c.session.Snapshot = whole
		c.run(textCommand(hotSelect4711))
	}
}
