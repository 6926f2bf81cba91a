package job_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/migrate/phase"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func planned(t *testing.T) *job.Job {
	t.Helper()
	genes, err := gene.ParseSet("0x4000-0x7fff", gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.New("split-1", job.Split, "s0", "s2", gene.W16, genes, "ann", "s0 is full", noon)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	j := planned(t)
	for _, e := range []phase.Event{{Kind: phase.Announced}, {Kind: phase.Copied}, {Kind: phase.CaughtUp}, {Kind: phase.Verified}, {Kind: phase.CutTo, Genes: 4096, Step: 820}} {
		next, err := j.On(e, "mover", "", noon)
		if err != nil {
			t.Fatal(err)
		}
		j = next
	}
	j.Every, j.Throttle = time.Minute, 50
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	again := new(job.Job)
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(j, again) {
		t.Errorf("read\n%+v\nwritten\n%+v", again, j)
	}
	for _, want := range []string{`"id":"split-1"`, `"phase":"cutting"`, `"percent":0`, `"from":"s0"`, `"to":"s2"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

func TestRecordsThatAreRefused(t *testing.T) {
	text, err := json.Marshal(planned(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range [][3]string{
		{`"schema":1`, `"schema":3`, "upgrade locus"},
		{`"genes":"0x4000-0x7fff"`, `"genes":"0x4000-0x4fff"`, "4096 genes of 16 bits, and its state has 16384"},
		{`"to":"s2"`, `"to":"s0"`, "from s0 to itself"},
		{`"cut":0`, `"cut":5`, "5 genes are at the target"},
		{`"throttle":0`, `"throttle":99`, "throttle 99"},
		{`"parts":4`, `"parts":0`, "0 parts"},
		{`"gene_bits":16`, `"gene_bits":7`, "genes of 7 bits"},
	} {
		changed := strings.Replace(string(text), test[0], test[1], 1)
		if changed == string(text) {
			t.Fatalf("nothing is %s", test[0])
		}
		if err := json.Unmarshal([]byte(changed), new(job.Job)); err == nil || !strings.Contains(err.Error(), test[2]) {
			t.Errorf("%s: %v, want %q", test[1], err, test[2])
		}
	}
}

// TestTheJournalIsBounded: its beginning and its end stay.
func TestTheJournalIsBounded(t *testing.T) {
	j := planned(t)
	first := j.Journal[0]
	for i := range 1000 {
		j = j.Noted("mover", strings.Repeat("x", i%7), noon.Add(time.Duration(i)*time.Second))
	}
	if n := len(j.Journal); n > 500 || j.Journal[0] != first || !j.Journal[n-1].At.Equal(noon.Add(999*time.Second)) {
		t.Errorf("%d entries, from %v to %v", n, j.Journal[0], j.Journal[n-1])
	}
}

// TestARecordIsReplaced: events leave the one before as it was.
func TestARecordIsReplaced(t *testing.T) {
	j := planned(t)
	if _, err := j.On(phase.Event{Kind: phase.Announced}, "mover", "", noon); err != nil {
		t.Fatal(err)
	}
	if j.State.Phase != phase.Planned || len(j.Journal) != 1 {
		t.Errorf("the record changed: %+v", j)
	}
	if _, err := j.On(phase.Event{Kind: phase.Finish}, "ann", "", noon); err == nil || !strings.Contains(err.Error(), "job split-1: finish") {
		t.Errorf("%v", err)
	}
}
