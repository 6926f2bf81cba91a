package failover

import (
	"testing"
	"time"
)

// The primary's transactions are stored every few seconds by the clock of the watching process. The clock of
// the process that wrote the record before does not count. If that clock were an hour ahead, the record would
// be an hour old when it is needed.
func TestTheClockOfWhoWatchedBeforeCountsForNothing(t *testing.T) {
	now := time.Now()
	for name, kept := range map[string]time.Time{"ahead": now.Add(time.Hour), "behind": now.Add(-time.Hour)} {
		w := &watch{state: State{Record: Record{Had: "0-1-8"}}, kept: Record{Had: "0-1-7", At: kept}}
		if !w.due(now) {
			t.Errorf("%s: the first record of a process that has just begun to watch is not written", name)
		}
		w.wrote = now
		if w.due(now.Add(keepEvery - 1)) {
			t.Errorf("%s: it is written again at once", name)
		}
		if !w.due(now.Add(keepEvery)) {
			t.Errorf("%s: it is not written again", name)
		}
	}
}
