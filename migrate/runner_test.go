package migrate

import (
	"testing"
	"time"

	"locus/migrate/cutover"
)

// Statements are held until the genes are handed over, or for as long as it takes to give the step up.
func TestHowLongAStepHolds(t *testing.T) {
	began := time.Now()
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	lines := []cutover.Line{
		{Name: cutover.BeforeCheck, Began: at(0), Ended: at(50)},
		{Name: cutover.BeforeFence, Began: at(50), Ended: at(70)},
		{Name: cutover.BeforePosition, Began: at(71), Ended: at(80)},
	}
	for _, c := range []struct {
		name string
		of   Stepped
		want time.Duration
	}{
		{"taken", Stepped{Lines: lines, Ended: at(99)}, 30 * time.Millisecond},
		{"given up", Stepped{Lines: lines, Ended: at(99), Failed: true}, 49 * time.Millisecond},
		{"not begun", Stepped{Lines: lines[:1], Ended: at(99), Failed: true}, 0},
	} {
		if got := c.of.Held(); got != c.want {
			t.Errorf("%s: held for %v, want %v", c.name, got, c.want)
		}
	}
}
