package orders

import (
	"context"
	"errors"

	"locus/migrate/job"
	"locus/migrate/preflight"
	"locus/proxy/session"
)

// Preview is what a procedure would begin.
type Preview struct {
	Job *job.Job // nobody has written it
	// Problems are what stands in its way; Unasked says why nothing is known of that.
	Problems []preflight.Problem
	Unasked  error
}

// Preview plans the move that a procedure begins, and asks both shards what stands in its
// way. Nothing is written. session.ErrNoProcedure: it begins none.
func (p *Procedures) Preview(ctx context.Context, name string, args []string, by string) (Preview, error) {
	var shown Preview
	_, err := with(p, name, texts(args), by, func(called procedure, c *call) (*job.Job, error) {
		if called.begins == nil {
			return nil, session.ErrNoProcedure
		}
		var err error
		if shown.Job, err = c.checked(ctx, called.begins); shown.Job == nil {
			return nil, err
		}
		if refused, is := errors.AsType[*Refused](err); is {
			shown.Problems = refused.Problems
			return shown.Job, nil
		}
		shown.Unasked = err
		return shown.Job, nil
	})
	return shown, err
}
