package console

import (
	"fmt"
	"testing"
	"time"

	"locus/control/events"
)

// TestChartsShowTheTimeline: the events of the span are between the entries of the journals, and the latest are kept.
func TestChartsShowTheTimeline(t *testing.T) {
	from, to := began, began.Add(time.Hour)
	found := []events.Event{
		{At: to.Add(time.Second), Kind: events.Process, Subject: "later"}, {At: began.Add(10 * time.Minute), Kind: events.Failover, Subject: "shard s0", What: "b is the primary", Failed: true},
		{At: from.Add(-time.Second), Kind: events.Process, Subject: "earlier"},
	}
	journal := []historyMark{{At: from.Add(time.Minute).UnixMilli(), Move: "split-1", What: "a step"}, {At: from.Add(time.Hour).UnixMilli(), Move: "split-1", What: "another"}}
	got := withEvents(journal, found, from, to)
	if len(got) != 3 || got[1] != (historyMark{At: began.Add(10 * time.Minute).UnixMilli(), Kind: "failover", Subject: "shard s0", What: "b is the primary", Failed: true}) {
		t.Errorf("%+v", got)
	}
	many := []events.Event{}
	for i := range 2 * mostMarks {
		many = append(many, events.Event{At: from.Add(time.Duration(i) * time.Second), What: fmt.Sprint(i)})
	}
	if got := withEvents(nil, many, from, to); len(got) != mostMarks || got[0].What != fmt.Sprint(mostMarks) {
		t.Errorf("%d marks, the first is %v", len(got), got[0])
	}
	if h := get[historyAnswer](t, newConsole(&fakeCluster{}), "/v1/history?span=24h"); h.Step != 480 || h.Trouble != "" {
		t.Errorf("%+v", h)
	}
}
