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
		return fmt.Errorf("%s by sequence: %d at most, since each statement without an owner asks for them: move so many by gene", counted(j.Genes.Len()), MostDivided)
	}
	return nil
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

// Rows is those that belong to the target when the state has reached so much.
func (j *Job) Rows(reach int) router.Foreign {
	switch {
	case !j.BySequence || reach == orderid.Modulus || reach == 0:
		return router.Foreign{Genes: j.AtTarget(reach)}
	default:
		return router.Foreign{Parts: []router.Part{{Genes: j.Genes, First: 0, End: orderid.Residue(reach)}}}
	}
}

// Between is the rows that change hands from one reach of the state to another.
func (j *Job) Between(a, b int) router.Foreign {
	a, b = min(a, b), max(a, b)
	if !j.BySequence || a == b {
		return router.Foreign{Genes: j.AtTarget(b).Subtract(j.AtTarget(a))}
	}
	return router.Foreign{Parts: []router.Part{{Genes: j.Genes, First: orderid.Residue(a), End: orderid.Residue(b)}}}
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
		return []router.Change{{Genes: j.AtTarget(to).Subtract(j.AtTarget(from)), To: j.To}}
	}
	return []router.Change{{Genes: j.AtTarget(from).Subtract(j.AtTarget(to)), To: j.From}}
}

// reached tells how far a job is, in its journal.
func (j *Job) reached(n int) string {
	if j.BySequence {
		return fmt.Sprintf("%d %% of the rows", n)
	}
	return fmt.Sprintf("%d of %d genes", n, j.State.Total)
}
