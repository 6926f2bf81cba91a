package main

import (
	"testing"
	"time"
)

func TestDueText(t *testing.T) {
	due := time.Date(2026, 5, 30, 12, 0, 0, 0, time.UTC)
	for now, want := range map[time.Time]string{
		due.Add(-time.Second): "the next key is due on 2026-05-30 12:00:00Z",
		due.Add(time.Second):  "the next key has been due since 2026-05-30 12:00:00Z: locus keys rotate --wait",
	} {
		if got := dueText(due, now); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
