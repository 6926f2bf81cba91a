package ops

import (
	"encoding/json"
	"strings"
	"testing"

	"locus/config/etcd"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// Events that lead to a job whose genes are all at the target.
var whole = []phase.Event{
	{Kind: phase.Announced}, {Kind: phase.Copied}, {Kind: phase.CaughtUp}, {Kind: phase.Verified},
	{Kind: phase.CutTo, Genes: 100, Step: 100}, {Kind: phase.StepTaken, Genes: 100},
}

// write writes the record of the split split-1 of 100 genes from s0 to s2, after events.
func write(t *testing.T, kv *etcd.KV, list ...phase.Event) {
	t.Helper()
	j, err := job.New("split-1", job.Split, "s0", "s2", gene.W16, gene.NewSet(gene.Range{First: 0, Last: 99}), "ann", "", noon)
	for _, e := range list {
		if err == nil {
			j, err = j.On(e, "ann", "", noon)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	put(t, kv, job.Prefix+j.ID, text)
}

// TestAWaitEndsWithThePhase: a job that rolls back is not ready before it owns nothing at the target.
func TestAWaitEndsWithThePhase(t *testing.T) {
	t.Parallel()
	o, kv := newOps(t)
	back := append(whole[:len(whole):len(whole)], phase.Event{Kind: phase.RollBack, Genes: 0, Step: 50})
	for _, c := range []struct {
		events []phase.Event
		wanted phase.Phase
		there  bool
		err    string
	}{
		{whole[:3], phase.Ready, false, ""},
		{whole[:4], phase.Ready, true, ""},
		{whole, phase.Ready, true, ""},
		{whole, phase.Cut, true, ""},
		{whole, phase.Done, false, ""},
		{back, phase.Ready, false, ""},
		{back, phase.Cut, false, ""},
		{append(back[:len(back):len(back)], phase.Event{Kind: phase.StepTaken, Genes: 50}), phase.Ready, false, ""},
		{append(back[:len(back):len(back)], phase.Event{Kind: phase.StepTaken, Genes: 50}, phase.Event{Kind: phase.StepTaken}), phase.Ready, true, ""},
		{append(whole[:4:4], phase.Event{Kind: phase.Pause}), phase.Ready, false, "job split-1 is paused: locus resume split-1"},
		{append(whole[:4:4], phase.Event{Kind: phase.Abort}), phase.Cut, false, "job split-1 is aborting"},
	} {
		write(t, kv, c.events...)
		s, err := o.jobs.Read(t.Context(), "split-1")
		if err != nil {
			t.Fatal(err)
		}
		there, err := arrived(s.Job, c.wanted)
		if there != c.there || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s, waiting for %s: %v %v", s.Job.State.Shown(), c.wanted, there, err)
		}
	}
}

// TestAwait returns the job once another process has written the phase.
func TestAwait(t *testing.T) {
	t.Parallel()
	o, kv := newOps(t)
	write(t, kv, whole[:3]...)
	got := make(chan error, 1)
	go func() {
		_, err := o.Await(t.Context(), Await{OfJob: OfJob{"split-1"}, Phase: "ready"})
		got <- err
	}()
	write(t, kv, whole[:4]...)
	if err := <-got; err != nil {
		t.Error(err)
	}
	if _, err := o.Await(t.Context(), Await{OfJob: OfJob{"split-1"}, Phase: "cut", Timeout: 1}); err == nil || !strings.Contains(err.Error(), "job split-1 is ready after 1ns, not cut") {
		t.Errorf("%v", err)
	}
	const want = `the phase "paused" can't be waited for; use ready, cut or done`
	if _, err := o.Await(t.Context(), Await{OfJob: OfJob{"split-1"}, Phase: "paused"}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
