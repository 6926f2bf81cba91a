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

// MostDivided is the greatest number of genes that a job by sequence moves. Statements without an owner need a
// condition for each range of these genes.
const MostDivided = 16

// NewBySequence returns the record of a split that hands over the rows of its genes by their sequences. It is
// for few genes, of which a percentage would be meaningless. The state counts hundredths of the rows instead of
// genes.
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

// divides returns an error if a job by gene is requested to hand over a part of one gene.
func (j *Job) divides(percent float64) error {
	if j.State.Total > 1 || percent <= 0 || percent >= 100 {
		return nil
	}
	return fmt.Errorf("job %s: it moves 1 gene, which has one owner, so that nothing can have %v %% of it: use 0%% or 100%%; or locus abort it, and divide the gene's rows by locus split --from %s --to %s --genes %s --by sequence",
		j.ID, percent, j.From, j.Target(), j.Genes)
}

// total returns the greatest value of the state: the number of genes, or the hundredths of their rows.
func (j *Job) total() int {
	if j.BySequence {
		return orderid.Modulus
	}
	return j.Genes.Len()
}

// share returns the hundredths of the rows that belong to the target; 0 for a job by gene.
func (j *Job) share() orderid.Residue {
	if !j.BySequence {
		return 0
	}
	return orderid.Residue(j.State.Cut)
}

// Rows returns the rows that belong to the target when the state has reached a value, and those that belong to
// the source.
func (j *Job) Rows(reach int) (target, source router.Part) {
	return j.Between(0, reach), j.Between(reach, j.State.Total)
}

// Between returns the rows that change hands between two values of the state.
func (j *Job) Between(a, b int) router.Part {
	a, b = min(a, b), max(a, b)
	if j.BySequence {
		return router.Part{Genes: j.Genes, First: orderid.Residue(a), End: orderid.Residue(b)}
	}
	return router.Whole(j.Genes.First(b).Subtract(j.Genes.First(a)))
}

// Changes returns the changes of the map's entries by a step. A job by sequence changes an entry only when the
// last rows are handed over, and when the first of them go back.
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

// Reached describes which rows belong to the target when the state has reached a value.
func (j *Job) Reached(n int) string {
	if j.BySequence {
		return fmt.Sprintf("%d %% of the rows", n)
	}
	return fmt.Sprintf("%d of %d genes", n, j.State.Total)
}

// Moved returns the number of genes that the job moves, and notes whether it divides them.
func (j *Job) Moved() string {
	if j.BySequence {
		return fmt.Sprintf("%d by sequence", j.Genes.Len())
	}
	return fmt.Sprint(j.Genes.Len())
}

// GenesAt returns the number of genes that belong to the target completely when the state has reached a value.
func (j *Job) GenesAt(reach int) int {
	if j.BySequence {
		return j.Genes.Len() * (reach / orderid.Modulus)
	}
	return reach
}
