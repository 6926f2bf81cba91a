package migrate

import (
	"testing"
	"time"

	"locus/migrate/phase"
)

func TestAttempts(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var a attempts
	for n, want := range []time.Duration{1, 1, 1, 1, 1, 2, 4, 8, 16, 30, 30} {
		if since := a.failedAt(phase.Advance, began.Add(time.Duration(n)*time.Minute)); since != time.Duration(n)*time.Minute {
			t.Errorf("failure %d: actions have failed for %v", n+1, since)
		}
		if got := a.pause(); got != want*time.Second {
			t.Errorf("after %d failures: a pause of %v, want %v", n+1, got, want*time.Second)
		}
	}
	for range 100 {
		a.failedAt(phase.Advance, began)
	}
	if got := a.pause(); got != longestPause {
		t.Errorf("after many failures: a pause of %v", got)
	}
}

// Actions that fix nothing don't reset earlier failures. Otherwise a step that always fails would be retried
// forever.
func TestAttemptsAreForgottenOnceSomethingSucceeds(t *testing.T) {
	verified := &phase.Event{Kind: phase.Verified}
	for _, test := range []struct {
		failed, did phase.Action
		event       *phase.Event
		forgotten   bool
	}{
		{phase.Advance, phase.Advance, &phase.Event{Kind: phase.StepTaken}, true},
		{phase.Copy, phase.Verify, verified, true},
		{phase.Copy, phase.Announce, nil, true},
		{phase.Advance, phase.Verify, verified, false},
		{phase.Advance, phase.Advance, &phase.Event{Kind: phase.Differs}, false},
	} {
		var a attempts
		a.failedAt(test.failed, time.Now())
		a.succeeded(test.did, test.event)
		if forgotten := a == (attempts{}); forgotten != test.forgotten {
			t.Errorf("%s failed, then %s succeeded with %+v: forgotten is %v", test.failed, test.did, test.event, forgotten)
		}
	}
}
