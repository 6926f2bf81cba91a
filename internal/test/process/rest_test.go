package process

import (
	"testing"
	"time"
)

func TestRest(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0: shortestRest, 2 * time.Millisecond: shortestRest, 10 * time.Millisecond: 40 * time.Millisecond, time.Second: longestRest,
	} {
		if got := Rest(took); got != want {
			t.Errorf("after %v: %v, want %v", took, got, want)
		}
	}
}
