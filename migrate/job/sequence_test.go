package job_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router"
)

func divided(t *testing.T) *job.Job {
	t.Helper()
	j, err := job.NewBySequence("split-1", "s0", "s2", gene.W16, gene.NewSet(gene.Range{First: 0x3eab, Last: 0x3eab}), "ann", "one buyer is hot", noon)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestAJobBySequence: each step's record and map agree, forward to the end and back to the start.
func TestAJobBySequence(t *testing.T) {
	j := divided(t)
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []phase.Kind{phase.Announced, phase.Copied, phase.CaughtUp, phase.Verified} {
		if j, err = j.On(phase.Event{Kind: kind}, "mover", "", noon); err != nil {
			t.Fatal(err)
		}
	}
	if m, err = m.Step(j.Moves()); err != nil {
		t.Fatal(err)
	}
	if j, err = j.Told(job.CutOver(100, 35, 0, job.PauseThen), "ann", noon); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, want := range []struct {
		reach int
		rows  string
	}{{35, "0x3eab mod 100 in 0..34"}, {70, "0x3eab mod 100 in 35..69"}, {100, "0x3eab mod 100 in 70..99"}, {60, "0x3eab mod 100 in 60..99"}, {20, "0x3eab mod 100 in 20..59"}, {0, "0x3eab mod 100 in 0..19"}} {
		action, reach := j.State.Next()
		if action == phase.Keep { // all are at the target
			if j, err = j.Told(job.Back(0, 40), "ann", noon); err != nil {
				t.Fatal(err)
			}
			_, reach = j.State.Next()
		}
		if between := j.Between(j.State.Cut, reach).String(); reach != want.reach || between != want.rows {
			t.Fatalf("the next step hands over %s to reach %d, and not %s to %d", between, reach, want.rows, want.reach)
		}
		next, err := j.On(phase.Event{Kind: phase.StepTaken, Genes: reach}, "mover", "", noon)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = m.Step(next.Moves(), next.Changes(j.State.Cut, reach)...); err != nil {
			t.Fatalf("to %d: %v", reach, err)
		}
		if owned := m.GenesOf("s2").Contains(0x3eab); owned != (reach == 100) || m.Divided().Empty() != (reach == 0 || reach == 100) {
			t.Errorf("at %d s2 owns the gene: %v; divided are %s", reach, owned, m.Divided())
		}
		text, err := json.Marshal(next)
		if err != nil || !strings.HasPrefix(string(text), `{"schema":2,`) {
			t.Fatalf("%v, %s", err, text)
		}
		j = new(job.Job)
		if err := json.Unmarshal(text, j); err != nil || !reflect.DeepEqual(j, next) {
			t.Fatalf("read again: %v\n%+v\n%+v", err, j, next)
		}
		steps++
	}
	if text, err := json.Marshal(planned(t)); err != nil || !strings.HasPrefix(string(text), `{"schema":1,`) {
		t.Errorf("a job by gene is written as %s, %v", text, err)
	}
}

func TestJobsBySequenceRefused(t *testing.T) {
	many := gene.NewSet(gene.Range{First: 0, Last: job.MostDivided})
	if _, err := job.NewBySequence("split-1", "s0", "s2", gene.W16, many, "ann", "", noon); err == nil || !strings.Contains(err.Error(), "17 genes by sequence") {
		t.Error(err)
	}
	one, err := job.New("split-1", job.Split, "s0", "s2", gene.W16, gene.NewSet(gene.Range{First: 0x3eab, Last: 0x3eab}), "ann", "", noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []job.Order{job.CutOver(35, 100, 0, job.PauseThen), job.NextStep(35), job.Back(35, 100)} {
		if _, err := one.Told(o, "ann", noon); err == nil || !strings.Contains(err.Error(), "locus split --from s0 --to s2 --genes 0x3eab --by sequence") {
			t.Errorf("%s of one gene: %v", o.Name, err)
		}
	}
	if _, err := divided(t).Told(job.CutOver(35, 100, 0, job.PauseThen), "ann", noon); err == nil || strings.Contains(err.Error(), "by sequence") {
		t.Errorf("before it is ready: %v", err)
	}
	text, err := json.Marshal(divided(t))
	if err != nil {
		t.Fatal(err)
	}
	byGene := strings.NewReplacer(`"by_sequence":true,`, "", `"schema":2`, `"schema":1`).Replace(string(text))
	if err := json.Unmarshal([]byte(byGene), new(job.Job)); err == nil || !strings.Contains(err.Error(), "its state has 100") {
		t.Errorf("a state of hundredths is taken for one of genes: %v", err)
	}
}
