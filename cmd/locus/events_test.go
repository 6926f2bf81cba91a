package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"locus/control/events"
)

// TestEventsFitATerminal prints events with long texts on lines of at most 80 characters, and loses no character of them.
func TestEventsFitATerminal(t *testing.T) {
	at := time.Date(2026, 3, 1, 23, 59, 58, 0, time.UTC)
	long := events.Event{
		At: at.Add(3 * time.Second), Kind: events.Declaration, Subject: "table " + strings.Repeat("漢", 100), What: strings.Repeat("a word ", 60) + strings.Repeat("x", 200),
		By: "ann", Took: 83 * time.Second, Failed: true,
	}
	short := events.Event{At: at, Kind: events.Failover, Subject: "shard s0", What: "b:1 is the primary, it was a:1", By: "p-1", Took: 1234 * time.Millisecond}
	var out bytes.Buffer
	(&eventList{}).print(&out, []events.Event{short, long})
	text := out.String()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	const want = `2026-03-01
23:59:58   failover    shard s0: b:1 is the primary, it was a:1 (took 1.2s, by
                       p-1)
2026-03-02
00:00:01 ! declaration table
`
	if !strings.HasPrefix(text, want) {
		t.Errorf("printed is\n%s\nwant\n%s", text, want)
	}
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	if !strings.Contains(squeeze(text), squeeze(long.What+"(took 1m23s, by ann)")) {
		t.Errorf("a part of the text is missing:\n%s", text)
	}
}

func TestQueriesOfEvents(t *testing.T) {
	now := time.Date(2026, 3, 8, 9, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		list eventList
		want string // the query, or a part of the error
	}{
		{eventList{limit: 50}, "[] since - until - limit 50"},
		{eventList{limit: 50, since: "12h"}, "[] since 2026-03-07 21:30:00Z until - limit 1000"},
		{eventList{limit: 50, since: "2d", limited: yes}, "[] since 2026-03-06 09:30:00Z until - limit 50"},
		{eventList{limit: 50, since: "22:00", until: "06:00"}, "[] since 2026-03-07 22:00:00Z until 2026-03-08 06:00:00Z limit 1000"},
		{eventList{limit: 50, since: "2026-03-01", until: "2026-03-02 10:00"}, "[] since 2026-03-01 00:00:00Z until 2026-03-02 10:00:00Z limit 1000"},
		{eventList{limit: 50, since: "2026-03-01T10:00:00+02:00"}, "[] since 2026-03-01 08:00:00Z until - limit 1000"},
		{eventList{limit: 50, kinds: []string{"job", " failover"}}, "[job failover] since - until - limit 50"},
		{eventList{limit: 50, kinds: []string{"jobs"}}, `no kind of events is called "jobs"`},
		{eventList{limit: 50, since: "last night"}, `--since: "last night" is no time`},
		{eventList{limit: 50, since: "-3h"}, "is no time"},
		{eventList{limit: 50, until: "25:00"}, "--until"},
		{eventList{limit: 0}, "--limit 0: from 1"},
		{eventList{limit: 50, follow: true, until: "06:00"}, "leave out --until"},
	} {
		l := c.list
		l.in = &invocation{now: func() time.Time { return now }}
		if l.limited == nil {
			l.limited = func() bool { return false }
		}
		q, err := l.query()
		got := fmt.Sprintf("%v since %s until %s limit %d", q.Kinds, orDash(stamped(q.Since)), orDash(stamped(q.Until)), q.Limit)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%+v: %s, want %s", c.list, got, c.want)
		}
	}
}

func yes() bool { return true }
