package migrate

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/job"
	"locus/migrate/owned"
	"locus/migrate/phase"
	"locus/migrate/table"
	"locus/router"
)

const hotGene = gene.Gene(0x3eab)

var hotGenes = gene.NewSet(gene.Range{First: hotGene, Last: hotGene})

// within returns a position inside the transaction with a number, in one server's log.
func within(t *testing.T, number int) changes.Position {
	t.Helper()
	p, err := changes.Decode(fmt.Sprintf("mariadb|0-1-%d|1@0-1-%d|0-1-%d", number-1, number, number-1))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func boundAfter(number int) string { return fmt.Sprintf("mariadb|0-1-%d", number) }

// TestWhoseARowIs: a change is the owner's if its server owned the row at that position of its log. Later steps
// don't matter, and a process that has only read the record gives the same answer.
func TestWhoseARowIs(t *testing.T) {
	j, err := job.NewBySequence("split-1", "s0", "s2", gene.W16, hotGenes, "ann", "", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0xffff, Shard: "s0"}})
	if err != nil {
		t.Fatal(err)
	}
	if m, err = m.Step(j.Moves()); err != nil {
		t.Fatal(err)
	}
	j.State.Phase, j.State.Announced, j.State.Copied, j.State.Verified = phase.Ready, true, true, true
	// The steps hand over at 100, 200 … of the source's log and at 1000, 2000 … of the target's.
	percents := []float64{35, 70, 100, 20, 90}
	for n, percent := range percents {
		next, err := j.Told(cutOrRollBack(j, percent), "ann", time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		_, reach := next.State.Next()
		if next, err = next.On(phase.Event{Kind: phase.StepTaken, Genes: reach}, "mover", "", time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		at := job.HandedAt{Source: boundAfter(100 * (n + 1)), Target: boundAfter(1000 * (n + 1))}
		next = next.Handing(job.Handed{From: j.State.Cut, To: reach, Bounds: map[string]job.HandedAt{j.ID: at}}, func(job.Handed) bool { return false })
		if m, err = m.Step(next.Moves(), next.Changes(j.State.Cut, reach)...); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(next)
		if err != nil {
			t.Fatal(err)
		}
		j = new(job.Job)
		if err := json.Unmarshal(text, j); err != nil {
			t.Fatal(err)
		}
	}
	o := new(ownership)
	if err := o.settle(j, m); err != nil {
		t.Fatal(err)
	}
	wantOwners(t, o, j, append([]float64{0}, percents...))
	if o.verdictOn(t, owned.Target, 9000, hotGene+1, 0) != applier.IfUnchanged {
		t.Error("another gene is the target's")
	}
}

func cutOrRollBack(j *job.Job, percent float64) job.Order {
	if j.State.Genes(percent) < j.State.Cut {
		return job.Back(percent, 100)
	}
	return job.CutOver(percent, 100, 0, job.PauseThen)
}

// wantOwners compares the verdicts on both logs, before, at and after each bound, with the shares that the target had.
func wantOwners(t *testing.T, o *ownership, j *job.Job, shares []float64) {
	t.Helper()
	for n, share := range shares {
		for r := range orderid.Residue(orderid.Modulus) {
			targets := float64(r) < share
			for _, number := range []int{100*n + 1, 100*n + 50, 100*n + 100} {
				if owns := o.verdictOn(t, owned.Source, number, hotGene, r) == applier.Apply; owns == targets {
					t.Errorf("transaction %d of the source, residue %d: the source owned it: %v", number, r, owns)
				}
				if owns := o.verdictOn(t, owned.Target, 10*number, hotGene, r) == applier.Apply; owns != targets {
					t.Errorf("transaction %d of the target, residue %d: the target owned it: %v", 10*number, r, owns)
				}
			}
		}
	}
}

func (o *ownership) verdictOn(t *testing.T, by owned.Side, number int, g gene.Gene, r orderid.Residue) applier.Verdict {
	t.Helper()
	verdicts, err := o.judge("split-1", by)(within(t, number))
	if err != nil {
		t.Fatal(err)
	}
	v, err := verdicts(t.Context(), g, r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestAnOpenStepWaits: changes after the bounds of a step are judged once the outcome of the step is known.
func TestAnOpenStepWaits(t *testing.T) {
	for _, taken := range []bool{true, false} {
		var l owned.Ledger
		l.Settle(map[string]owned.History{"leg": {}}, true)
		rows := router.Whole(hotGenes)
		open := l.Open(rows)
		bound := func(text string) changes.Bound {
			b, err := changes.ParseBound(text)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		open.Bound("leg", owned.Source, bound(boundAfter(5)))
		open.Bound("leg", owned.Target, bound(boundAfter(50)))
		ask := func(by owned.Side, number int) <-chan bool {
			answer := make(chan bool, 1)
			at, err := within(t, number).Transaction()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				owns, err := l.Owned(t.Context(), "leg", by, at, hotGene, 0)
				if err != nil {
					t.Error(err)
				}
				answer <- owns
			}()
			return answer
		}
		if !<-ask(owned.Source, 5) || <-ask(owned.Target, 50) {
			t.Error("changes before the bounds are the source's, and need not wait")
		}
		source, target := ask(owned.Source, 6), ask(owned.Target, 51)
		select {
		case <-source:
			t.Error("a change after the bound was judged before the outcome was known")
		case <-target:
			t.Error("a change after the bound was judged before the outcome was known")
		default:
		}
		h := owned.History{}
		if taken {
			h = owned.History{Target: rows, Steps: []owned.Step{{Rows: rows, To: owned.Target, At: open.Bounds()["leg"]}}}
		}
		l.Settle(map[string]owned.History{"leg": h}, true)
		if owns := <-source; owns == taken {
			t.Errorf("taken %v: the source owns the row: %v", taken, owns)
		}
		if owns := <-target; owns != taken {
			t.Errorf("taken %v: the target owns the row: %v", taken, owns)
		}
	}
}

// TestChangedRowsOfAPart: a step takes out those that it hands over, and leaves the others to later ones.
func TestChangedRowsOfAPart(t *testing.T) {
	var r changedRows
	of := new(table.Table)
	key := func(n orderid.Residue) table.Key { return table.Key{{byte(n)}} }
	for n := range orderid.Residue(orderid.Modulus) {
		r.add(of, applier.Touched{Key: key(n), Gene: hotGene, Residue: n})
	}
	r.add(of, applier.Touched{Key: table.Key{{200}}, Gene: hotGene + 1})
	for _, step := range []struct {
		first, end orderid.Residue
		want       int
	}{{0, 35, 35}, {0, 35, 0}, {35, 36, 1}, {30, 100, 64}} {
		if got := r.of(router.Part{Genes: hotGenes, First: step.first, End: step.end})[of]; len(got) != step.want {
			t.Errorf("%d rows of residues %d to %d, want %d", len(got), step.first, step.end-1, step.want)
		}
	}
	if left := r.of(router.Whole(gene.NewSet(gene.All(gene.W16))))[of]; len(left) != 1 {
		t.Errorf("%d rows of another gene are left", len(left))
	}
}
