package main

import (
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"locus/router"
	"locus/router/cluster"
)

// A number taken apart and put together is the same, of every kind.
func TestFieldsRoundTrip(t *testing.T) {
	kinds := []cluster.Generator{
		{Kind: cluster.SegmentGenerator},
		{Kind: cluster.RedisGenerator},
		{Kind: cluster.MemcachedGenerator},
		{Kind: cluster.RowGenerator},
		{Kind: cluster.SnowflakeGenerator},
		{Kind: cluster.SnowflakeGenerator, Epoch: "1288834974657"},
		{Kind: cluster.BucketsGenerator},
		{Kind: cluster.AutoIncrementGenerator, Shards: []router.ShardName{"s0", "s1", "s0", "s1"}},
		{Kind: cluster.AutoIncrementGenerator, Shards: []router.ShardName{"s0"}},
		{Kind: cluster.HAGenerator, Of: []string{"a", "b"}},
		{Kind: cluster.QueueGenerator, Bits: 20},
		{Kind: cluster.QueueGenerator},
	}
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(kinds).Draw(t, "kind")
		text := strconv.FormatUint(rapid.Uint64Range(0, 1<<63-1).Draw(t, "number"), 10)
		list, err := partsOf(made{Generator: g}, text)
		if err != nil {
			t.Fatal(err)
		}
		parts := map[string]string{}
		for _, p := range list {
			parts[p.Field] = p.Value
		}
		if again, err := composed(t.Context(), made{Generator: g}, parts, time.Time{}); err != nil || again != text {
			t.Fatalf("%s of kind %s is %v, and that %s, %v", text, g.Kind, parts, again, err)
		}
	})
}

// The time of a snowflake counts from its epoch.
func TestTheTimeOfASnowflake(t *testing.T) {
	for epoch, want := range map[string]string{"": "2024-01-01T00:00:01.5Z", "1288834974657": "2010-11-04T01:42:56.157Z"} {
		fields, err := partsOf(made{Generator: cluster.Generator{Kind: cluster.SnowflakeGenerator, Epoch: epoch}}, strconv.Itoa(1500<<22|7<<12|3))
		if err != nil || fields[0].Value != want || fields[1].Value != "7" || fields[2].Value != "3" {
			t.Errorf("epoch %q: %v, %v", epoch, fields, err)
		}
	}
}
