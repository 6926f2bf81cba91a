package catalog

import (
	"strings"
	"testing"

	"locus/router/endpoint"
)

func TestSegments(t *testing.T) {
	for _, c := range []struct {
		segments Segments
		reason   string
	}{
		{Segments{}, ""},
		{Segments{Start: 1_000_000, MinStep: 10, MaxStep: 100, Buffer: "1m", Sizing: "leaf"}, ""},
		{Segments{MaxStep: 1000, Sizing: "measured"}, ""},
		{Segments{Start: 1 << 42}, "a sequence of layout int64 has 42 bits"},
		{Segments{MaxStep: 999}, "below min_step, which is 1000"},
		{Segments{MinStep: 11, MaxStep: 10}, "min_step 11 is above max_step 10"},
		{Segments{MinStep: 1<<32 + 1}, "at most 4294967296"},
		{Segments{Buffer: "soon"}, "write a duration from 1ms to 1h"},
		{Segments{Buffer: "2h"}, "write a duration from 1ms to 1h"},
		{Segments{Sizing: "Leaf"}, "use measured or leaf"},
		{Segments{Preload: "1%"}, ""},
		{Segments{Ordered: true, Start: 5}, ""},
		{Segments{Ordered: true, Buffer: "1s"}, "ordered: no number is in memory"},
		{Segments{Ordered: true, Redis: &endpoint.Redis{Server: "redis:6379"}}, "leave `redis:` out"},
		{Segments{Preload: "100%"}, ""},
		{Segments{Preload: "0%"}, "write a share from 1% to 100%"},
		{Segments{Preload: "10"}, "write a share from 1% to 100%"},
		{Segments{Redis: &endpoint.Redis{Server: "redis:6379"}}, ""},
	} {
		d := Declaration{Kind: Sharded, Owner: "o", ID: &IDColumn{Column: "id", Layout: "int64", Segments: c.segments}}
		err := d.Validate()
		if c.reason == "" && err != nil || c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason)) {
			t.Errorf("%+v: %v, want %q", c.segments, err, c.reason)
		}
	}
	wide := Declaration{Kind: Sharded, Owner: "o", ID: &IDColumn{Column: "id", Layout: "bytes16", Segments: Segments{Start: 1 << 53, Redis: &endpoint.Redis{Server: "redis:6379"}}}}
	if err := wide.Validate(); err == nil || !strings.Contains(err.Error(), "Redis counts up to 2^53") {
		t.Errorf("more than Redis counts: %v", err)
	}
	parent := Declaration{Kind: Sharded, Parent: &IDColumn{Column: "p", Layout: "int64", Segments: Segments{Start: 1}}}
	if err := parent.Validate(); err == nil || !strings.Contains(err.Error(), "leave them out of `parent:`") {
		t.Errorf("segments of a parent: %v", err)
	}
}
