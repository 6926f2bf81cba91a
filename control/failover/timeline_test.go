package failover

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRecordsInTheTimeline checks that a change of a record has an event if a problem or action begins or ends, and no event
// otherwise.
func TestRecordsInTheTimeline(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		kept, next Record
		want       string
	}{
		{Record{}, Record{Had: "1-1-1", Epoch: 3, Unready: map[string]string{"a:1": "behind"}}, ""},
		{Record{}, Record{Trouble: "no server can be promoted"}, "true no server can be promoted 0s"},
		{Record{Trouble: "a"}, Record{Trouble: "b"}, ""},
		{Record{Trouble: "a"}, Record{}, "false no problem with its primary any more 0s"},
		{Record{}, Record{MayLose: "no replica acknowledges"}, "true acknowledged transactions may be lost with the primary: no replica acknowledges 0s"},
		{Record{MayLose: "a"}, Record{Trouble: "b"}, "true b 0s; false acknowledged transactions can't be lost with the primary any more 0s"},
		{Record{}, Record{Waits: now}, "true commits wait for replicas, of which too few acknowledge 0s"},
		{Record{Waits: now.Add(-time.Minute)}, Record{}, "false commits don't wait for replicas any more 1m0s"},
	} {
		c.next.By = "m"
		var got []string
		for _, e := range eventsOf("s0", c.kept, c.next, now) {
			if e.By != "m" || e.Subject != "shard s0" {
				t.Errorf("%+v", e)
			}
			got = append(got, fmt.Sprintf("%v %s %v", e.Failed, e.What, e.Took))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%+v, then %+v: %q, want %q", c.kept, c.next, text, c.want)
		}
	}
}
