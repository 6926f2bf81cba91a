package jobs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/control/events"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// TestTheTimelineHasEachLineOfAJournal compares the timeline with the journal of a job that is written by its store, also beyond the lines that a
// journal keeps.
func TestTheTimelineHasEachLineOfAJournal(t *testing.T) {
	kv := started(t)
	store := New(kv, "the test", nil)
	began := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	j, err := job.New("7", job.Split, "s0", "s1", gene.W16, gene.NewSet(gene.Range{First: 0, Last: 0xff}), "anna", "", began)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Create(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if err := store.Create(t.Context(), j); err == nil {
		t.Error("a second job of the same name was written")
	}
	want := []string{"split of 256 genes from s0 to s1: 0x0000-0x00ff 0s false"}
	write := func(next *job.Job, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		snap := snapshot(t, store, j.ID)
		if _, err := store.Write(t.Context(), snap, next, nil, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Write(t.Context(), snap, next, nil, ""); err == nil {
			t.Error("a record that is too late was written")
		}
		j = next
	}
	on := func(after time.Duration, kind phase.Event, line string) {
		t.Helper()
		began = began.Add(after)
		next, err := j.On(kind, "m", "", began)
		write(next, err)
		want = append(want, line)
	}
	on(2*time.Second, phase.Event{Kind: phase.Announced}, "announced → copying 2s false")
	for i := range 450 {
		began = began.Add(time.Millisecond)
		write(j.Noted("m", fmt.Sprint("line ", i), began), nil)
		want = append(want, fmt.Sprintf("line %d 0s false", i))
	}
	on(550*time.Millisecond, phase.Event{Kind: phase.FailedWith, Why: "disk full"}, "failed: disk full → failed 1s true")

	all, _, err := events.ReadAll(t.Context(), kv, events.Query{Subject: "job 7", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range slices.Backward(all) {
		got = append(got, fmt.Sprintf("%s %v %v", e.What, e.Took, e.Failed))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d events, want %d:\n%s\nwant\n%s", len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
