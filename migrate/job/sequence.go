package job

import (
	"errors"
	"fmt"
	"time"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/phase"
	"locus/router"
)

// MostDivided is how many genes a job by sequence moves at most: statements that name no
// owner carry a condition for each range of them.
const MostDivided = 16

// NewBySequence is the record of a split that hands over the rows of its genes by their
// sequences, because a share of so few genes would mean nothing. Its state counts
// hundredths of the rows, and not genes.
func NewBySequence(id string, from, to router.ShardName, w gene.Width, genes gene.Set, by, why string, now time.Time) (*Job, error) {
	state, err := phase.New(orderid.Modulus)
	if err != nil {
		return nil, err
	}
	j := &Job{
		ID: id, Kind: Split, From: from, To: to, Width: w, Genes: genes, BySequence: true, State: state, OnBreach: PauseThen,
		Parts: max(1, min(DefaultParts, genes.Len())), Created: created(now), By: by, Why: why,
	}
	j.note(now, by, fmt.Sprintf("%s of the rows of %s from %s to %s, by sequence: %s", Split, counted(genes.Len()), from, to, genes))
	return j, j.Check()
}

func (j *Job) checkSequence() error {
	switch {
	case !j.BySequence:
		return nil
	case j.Import != nil:
		return errors.New("an import by sequence: its genes have their owners already")
	case j.Genes.Len() > MostDivided:
		return fmt.Errorf("%s by sequence: %d at most, since each statement without an owner asks for them: name fewer, or move so many by gene", counted(j.Genes.Len()), MostDivided)
	}
	return nil
}

// divides refuses to hand over a part of one gene by a job that hands over genes.
func (j *Job) divides(percent float64) error {
	if j.State.Total > 1 || percent <= 0 || percent >= 100 {
		return nil
	}
	return fmt.Errorf("job %s: it moves 1 gene, which has one owner, so that nothing can have %v %% of it: say 0%% or 100%%; or locus abort it, and divide the gene's rows by locus split --from %s --to %s --genes %s --by sequence",
		j.ID, percent, j.From, j.Target(), j.Genes)
}

// total is what the state counts up to: genes, or hundredths of their rows.
func (j *Job) total() int {
	if j.BySequence {
		return orderid.Modulus
	}
	return j.Genes.Len()
}

// share is how many hundredths of the rows belong to the target, of a job by sequence.
func (j *Job) share() orderid.Residue {
	if !j.BySequence {
		return 0
	}
	return orderid.Residue(j.State.Cut)
}

// Rows is those that belong to the target when the state has reached so much, and those
// that are the source's then.
func (j *Job) Rows(reach int) (target, source router.Part) {
	return j.Between(0, reach), j.Between(reach, j.State.Total)
}

// Between is the rows that change hands from one reach of the state to another.
func (j *Job) Between(a, b int) router.Part {
	a, b = min(a, b), max(a, b)
	if j.BySequence {
		return router.Part{Genes: j.Genes, First: orderid.Residue(a), End: orderid.Residue(b)}
	}
	return router.Whole(j.Genes.First(b).Subtract(j.Genes.First(a)))
}

// Changes is what of the map's entries a step changes: of rows by sequence nothing, until
// all of them have changed hands, and when the first of them go back.
func (j *Job) Changes(from, to int) []router.Change {
	switch {
	case j.Import != nil:
		return nil
	case j.BySequence && to == orderid.Modulus:
		return []router.Change{{Genes: j.Genes, To: j.To}}
	case j.BySequence && from == orderid.Modulus:
		return []router.Change{{Genes: j.Genes, To: j.From}}
	case j.BySequence:
		return nil
	case to > from:
		return []router.Change{{Genes: j.Between(from, to).Genes, To: j.To}}
	}
	return []router.Change{{Genes: j.Between(from, to).Genes, To: j.From}}
}

// Reached says what belongs to the target when the state has reached so much.
func (j *Job) Reached(n int) string {
	if j.BySequence {
		return fmt.Sprintf("%d %% of the rows", n)
	}
	return fmt.Sprintf("%d of %d genes", n, j.State.Total)
}

// Moved is how many genes the job moves, and whether it divides them.
func (j *Job) Moved() string {
	if j.BySequence {
		return fmt.Sprintf("%d by sequence", j.Genes.Len())
	}
	return fmt.Sprint(j.Genes.Len())
}

// GenesAt is how many genes belong to the target, whole, when the state has reached so much.
func (j *Job) GenesAt(reach int) int {
	if j.BySequence {
		return j.Genes.Len() * (reach / orderid.Modulus)
	}
	return reach
}
