package migrate

import (
	"testing"
	"time"
)

func TestGauge(t *testing.T) {
	began := time.Now()
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	var g gauge
	for _, step := range []struct {
		what string
		do   func()
		at   int
		want int // ms behind
	}{
		{"nothing was measured", func() {}, 0, 0},
		{"the first measurement goes on", func() { g.begin(at(0)) }, 30, 30},
		{"it took 50 ms", func() { g.end(at(50)) }, 500, 50},
		{"the second has just begun", func() { g.begin(at(600)) }, 610, 50},
		{"it goes on", func() {}, 700, 100},
		{"it failed, and the next one has begun", func() { g.begin(at(800)) }, 900, 300},
		{"which took 10 ms", func() { g.end(at(810)) }, 2000, 210},
	} {
		step.do()
		if got := g.lag(at(step.at)); got != time.Duration(step.want)*time.Millisecond {
			t.Errorf("%s: %v behind, want %d ms", step.what, got, step.want)
		}
	}
}
