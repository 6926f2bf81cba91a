package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/proxy/mirror"
)

// TestAJobHasItsMirroredReads: the output for programs contains the mirrored reads in addition to the fields of
// the record, which are as in etcd.
func TestAJobHasItsMirroredReads(t *testing.T) {
	genes, err := gene.ParseSet("0x4000-0x7fff", gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.New("split-1", job.Split, "s0", "s1", gene.W16, genes, "ann", "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	report := &mirror.Report{Percent: 10}
	report.Compared = 7
	for _, want := range []*mirror.Report{nil, report} {
		text, err := json.Marshal(shownJob{j, want})
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			ID       string
			Mirrored *mirror.Report
		}
		if err := json.Unmarshal(text, &got); err != nil || got.ID != j.ID {
			t.Fatalf("%s: %v", text, err)
		}
		if (got.Mirrored == nil) != (want == nil) || want != nil && got.Mirrored.Compared != 7 {
			t.Errorf("%s", text)
		}
	}
}

// TestJobsThatEndedLongAgoAreLeftOut: those that go on are all listed, and of the others those that ended last.
func TestJobsThatEndedLongAgoAreLeftOut(t *testing.T) {
	genes, err := gene.ParseSet("0x4000-0x7fff", gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	var list []*job.Job
	for i := range 20 {
		j, err := job.New(fmt.Sprintf("split-%d", i), job.Split, "s0", "s1", gene.W16, genes, "ann", "", began.Add(time.Duration(i)*time.Hour))
		if err == nil && i%2 == 0 { // the earlier they began the later they ended
			for _, kind := range []phase.Kind{phase.Abort, phase.Withdrawn} {
				j, err = j.On(phase.Event{Kind: kind}, "ann", "", began.Add(time.Duration(1000-i)*time.Hour))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, j)
	}
	var got []string
	for _, j := range lately(list) {
		got = append(got, strings.TrimPrefix(j.ID, "split-"))
	}
	if want := "0 1 2 3 4 5 6 7 8 9 11 13 15 17 19"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if len(list) != 20 || list[10].ID != "split-10" {
		t.Error("the list itself has changed")
	}
}
