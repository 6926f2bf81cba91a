package cluster

import (
	"strings"
	"testing"
	"time"

	"locus/idgen/row"
	"locus/idgen/segment"
	"locus/router"
)

// An epoch is a date, a time or milliseconds, all of which can be one moment.
func TestEpoch(t *testing.T) {
	leaf := time.UnixMilli(1288834974657)
	for text, want := range map[string]time.Time{
		"": time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), "2010-11-04": time.Date(2010, 11, 4, 0, 0, 0, 0, time.UTC),
		"1288834974657": leaf, "2010-11-04T01:42:54.657Z": leaf, "2010-11-04T09:42:54.657+08:00": leaf,
	} {
		if got := (Generator{Epoch: text}).Since(); !got.Equal(want) {
			t.Errorf("epoch %q is %s, want %s", text, got, want)
		}
	}
	flake := func(epoch string) *Cluster {
		c := good(t)
		c.Generators = map[string]Generator{"n": {Kind: SnowflakeGenerator, Epoch: epoch}}
		return c
	}
	for _, change := range []struct{ from, to, want string }{
		{"", "2024-01-01", ""},
		{"1288834974657", "2010-11-04T01:42:54.657Z", ""},
		{"", "2010-11-04", "the epoch of n is 2024-01-01T00:00:00Z and can't become 2010-11-04T00:00:00Z"},
		{"2010-11-04", "", "can't become 2024-01-01T00:00:00Z"},
	} {
		if _, err := Succeed(flake(change.from), flake(change.to), stamp); change.want == "" && err != nil || change.want != "" && (err == nil || !strings.Contains(err.Error(), change.want)) {
			t.Errorf("from %q to %q: %v", change.from, change.to, err)
		}
	}
	at := router.Stamp{At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if _, err := Succeed(nil, flake("2027-01-01"), at); err == nil || !strings.Contains(err.Error(), "generator n: epoch 2027-01-01T00:00:00Z is in the future") {
		t.Errorf("an epoch in the future: %v", err)
	}
}

// A generator can't get another table or row if there is no record of the numbers that the old one has granted. The meaning of
// the number in its row can't be reversed either.
func TestExistingTablesStay(t *testing.T) {
	with := func(g Generator) *Cluster {
		c := good(t)
		c.Generators = map[string]Generator{"n": g}
		return c
	}
	from := func(kind GeneratorKind, table, holds string) Generator {
		return Generator{Kind: kind, Store: &Store{MySQL: &MySQLStore{Shard: "s0", Table: table, Value: "v", Holds: row.Holds(holds)}}}
	}
	numbered := func(tables ...string) Generator {
		return Generator{Kind: AutoIncrementGenerator, Shards: []router.ShardName{"s0", "s0"}, Tables: tables}
	}
	for _, c := range []struct {
		was, is Generator
		refused bool
	}{
		{from(RowGenerator, "a.b", ""), from(RowGenerator, "a.b", ""), false},
		{from(RowGenerator, "a.b", ""), from(RowGenerator, "a.b", "next"), false},
		{from(RowGenerator, "a.b", "last"), from(RowGenerator, "a.b", ""), false},
		{from(RowGenerator, "a.b", "last"), from(RowGenerator, "a.b", "next"), true},
		{from(SegmentGenerator, "a.b", "next"), from(SegmentGenerator, "a.b", "last"), true},
		{from(RowGenerator, "a.b", ""), from(RowGenerator, "a.c", ""), true},
		{from(SegmentGenerator, "a.b", ""), from(SegmentGenerator, "a.c", ""), false}, // etcd records the granted numbers
		{numbered("a.b", "a.c"), numbered("a.b", "a.c"), false},
		{numbered("a.b", "a.c"), numbered("a.c", "a.b"), true},
		{numbered(), numbered("a.c", "a.b"), true},
	} {
		_, err := Succeed(with(c.was), with(c.is), stamp)
		if c.refused != (err != nil && strings.Contains(err.Error(), "can't change, since its numbers could be equal to earlier ones")) {
			t.Errorf("from %+v to %+v: %v", c.was, c.is, err)
		}
	}
}

// The settings of a declaration for numbers in memory are passed to the packages that keep these numbers.
func TestPaceOfGenerators(t *testing.T) {
	g := Generator{Kind: QueueGenerator, Bits: 3, Buffer: "20ms", Preload: "25%", MaxStep: 9, Interval: "10ms"}
	if q := g.Queue(); q.Interval != 10*time.Millisecond || q.Bits != 3 || q.Ahead != 20*time.Millisecond || q.Preload != 25 || q.Most != 9 {
		t.Errorf("a queue has %+v", q)
	}
	g = Generator{Kind: SegmentGenerator, MinStep: 5, MaxStep: 9, Buffer: "2s", Preload: "100%", Sizing: "leaf"}
	if s := g.Segments(); s.MinStep != 5 || s.MaxStep != 9 || s.Buffer != 2*time.Second || s.Preload != 100 || s.Sizing != segment.Leaf {
		t.Errorf("segments have %+v", s)
	}
}
