package job_test

import (
	"reflect"
	"testing"
	"time"

	"locus/migrate/job"
)

func TestTallies(t *testing.T) {
	before := job.Tally{Failed: 1, Times: []job.Times{{time.Millisecond, 990}, {time.Second, 10}}}
	after := job.Tally{Failed: 4, Times: []job.Times{{time.Millisecond, 1000}, {100 * time.Millisecond, 20}, {time.Second, 10}}}
	since := after.Since(before)
	want := job.Tally{Failed: 3, Times: []job.Times{{time.Millisecond, 10}, {100 * time.Millisecond, 20}}}
	if !reflect.DeepEqual(since, want) {
		t.Errorf("since: %+v", since)
	}
	if both := before.Plus(since); !reflect.DeepEqual(both, after) {
		t.Errorf("plus: %+v", both)
	}
	if before.P99() != time.Millisecond || since.P99() != 100*time.Millisecond || (job.Tally{}).P99() != 0 {
		t.Errorf("p99: %v, %v", before.P99(), since.P99())
	}
	if n := after.Slower(time.Millisecond); n != 30 {
		t.Errorf("%d slower than a millisecond", n)
	}
	if r := since.Rate(); r != 0.1 || (job.Tally{}).Rate() != 0 {
		t.Errorf("rate %v", r)
	}
	// A proxy that stops takes its counters with it.
	if gone := before.Since(after); gone.Failed != 0 || len(gone.Times) != 0 {
		t.Errorf("%+v", gone)
	}
}
