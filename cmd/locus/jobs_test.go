package main

import (
	"encoding/json"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/proxy/mirror"
)

// TestAJobHasItsMirroredReads: for programs, beside the record, which is as it is in etcd.
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
