package main

import (
	"math"
	"testing"
)

func TestMetricOf(t *testing.T) {
	const said = "goos: linux\nBenchmarkLibrary-2 \t 1\t 4012 ns/op\t 21.5 millions/s\t 0 allocs/ID\nPASS\n"
	for unit, want := range map[string]float64{"millions/s": 21.5, "allocs/ID": 0, "ns/op": 4012} {
		if got := metricOf(said, unit); got != want {
			t.Errorf("%s: %v, want %v", unit, got, want)
		}
	}
	if got := metricOf("FAIL\n", "ratio"); !math.IsNaN(got) {
		t.Errorf("nothing was reported, and that is %v", got)
	}
}
