package migrate

import (
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/migrate/table"
	"locus/router"
)

const hotGene = gene.Gene(0x3eab)

var hotGenes = gene.NewSet(gene.Range{First: hotGene, Last: hotGene})

// TestWhoseARowIs: of a divided gene a change is applied as it is if it came from the server that owns its row, or while the row is
// handed over; anything else is a stray.
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
	o := new(ownership)
	owned := func(g gene.Gene, r orderid.Residue) (byTarget bool) {
		t.Helper()
		fromSource, fromTarget := o.judge(false)(changes.Position{})(g, r), o.judge(true)(changes.Position{})(g, r)
		if (fromSource == applier.Apply) == (fromTarget == applier.Apply) {
			t.Errorf("gene %s, residue %d: %v from the source and %v from the target", g, r, fromSource, fromTarget)
		}
		return fromTarget == applier.Apply
	}
	j.State.Phase, j.State.Announced, j.State.Copied, j.State.Verified = phase.Ready, true, true, true
	for _, percent := range []float64{35, 70, 100} {
		next, err := j.Told(job.CutOver(percent, 100, 0, job.PauseThen), "ann", time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		_, reach := next.State.Next()
		if next, err = next.On(phase.Event{Kind: phase.StepTaken, Genes: reach}, "mover", "", time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		if m, err = m.Step(next.Moves(), next.Changes(j.State.Cut, reach)...); err != nil {
			t.Fatal(err)
		}
		between := j.Between(j.State.Cut, reach)
		o.handing(between)
		for r := between.First; r < between.End; r++ {
			if o.judge(false)(changes.Position{})(hotGene, r) != applier.Apply || o.judge(true)(changes.Position{})(hotGene, r) != applier.Apply {
				t.Errorf("residue %d is handed over, and not applied from either", r)
			}
		}
		o.handing(router.Part{})
		o.set(next, m)
		for r := range orderid.Residue(orderid.Modulus) {
			if owned(hotGene, r) != (int(r) < reach) {
				t.Errorf("at %d %%, residue %d is the target's: %v", reach, r, int(r) >= reach)
			}
		}
		if owned(hotGene+1, 0) {
			t.Errorf("at %d %%, another gene is the target's", reach)
		}
		j = next
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
