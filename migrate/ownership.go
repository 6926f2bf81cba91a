package migrate

import (
	"context"
	"fmt"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/job"
	"locus/migrate/owned"
	"locus/router"
)

// ownership decides for a job's streams who made the changes that they read. A change is the owner's if its
// server owned the row at that position of its log.
type ownership struct{ ledger owned.Ledger }

// settle adopts the state of a record and a map that are known to be current.
func (o *ownership) settle(j *job.Job, m *router.Map) error {
	target, _ := j.Rows(j.State.Cut)
	if move, there := m.MoveOf(j.ID); there && move.Divides() {
		target, _ = j.Rows(int(move.Share))
	} else if j.Import == nil {
		target = router.Whole(m.GenesOf(j.To).Intersect(j.Genes))
	}
	history := map[string]owned.History{}
	for _, l := range j.Legs() {
		steps, err := stepsOf(j, l.ID)
		if err != nil {
			return fmt.Errorf("job %s: %w", j.ID, err)
		}
		history[l.ID] = owned.History{Steps: steps, Target: target}
	}
	o.ledger.Settle(history, j.State.Copied)
	return nil
}

// stepsOf returns the recorded steps with rows of a leg.
func stepsOf(j *job.Job, leg string) (steps []owned.Step, err error) {
	for _, h := range j.Handed {
		at, there := h.Bounds[leg]
		if !there {
			continue
		}
		s := owned.Step{Rows: j.Between(h.From, h.To), To: owned.Source}
		if h.To > h.From {
			s.To = owned.Target
		}
		if s.At[owned.Source], err = changes.ParseBound(at.Source); err != nil {
			return nil, err
		}
		if s.At[owned.Target], err = changes.ParseBound(at.Target); err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// handed returns the record of an open step.
func handed(from, to int, open *owned.Open) job.Handed {
	h := job.Handed{From: from, To: to, Bounds: map[string]job.HandedAt{}}
	for leg, at := range open.Bounds() {
		h.Bounds[leg] = job.HandedAt{Source: at[owned.Source].String(), Target: at[owned.Target].String()}
	}
	return h
}

// judge returns the function that decides about the changes that a leg's stream reads from one side.
func (o *ownership) judge(leg string, by owned.Side) applier.Judge {
	return func(p changes.Position) (applier.Verdicts, error) {
		at, err := p.Transaction()
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, g gene.Gene, r orderid.Residue) (applier.Verdict, error) {
			owns, err := o.ledger.Owned(ctx, leg, by, at, g, r)
			if owns {
				return applier.Apply, err
			}
			return applier.IfUnchanged, err
		}, nil
	}
}

// copied returns a function that reports whether the server to which a stream writes has received all rows.
func (o *ownership) copied(by owned.Side) func() bool {
	if by == owned.Target {
		return func() bool { return true } // the source always has them
	}
	return o.ledger.Copied
}
