package migrate

import (
	"context"
	"fmt"
	"time"

	"locus/migrate/changes"
	"locus/migrate/checkpoint"
	"locus/migrate/link"
)

// appliedLook is the interval between checks of the positions. Workers that write rows record their position
// each time, the others only now and then.
const appliedLook = 200 * time.Millisecond

// Applied waits until a job's stream has applied at its target everything that the source had logged when
// Applied was called. It is for processes that don't run the job: it reads the positions recorded at the
// target, and changes nothing.
func Applied(ctx context.Context, job string, source, target link.Server) error {
	now, err := currentAt(ctx, source)
	if err != nil {
		return err
	}
	c, err := link.Dial(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		through, err := covered(ctx, c, job, now)
		if through || err != nil {
			return err
		}
		if err := pause(ctx, appliedLook); err != nil {
			return fmt.Errorf("wait until job %s has applied %s: %w", job, now, err)
		}
	}
}

func currentAt(ctx context.Context, source link.Server) (changes.Position, error) {
	c, err := link.Dial(ctx, source)
	if err != nil {
		return changes.Position{}, err
	}
	defer c.Close()
	return changes.Current(ctx, c)
}

// covered reports whether every worker has passed a position.
func covered(ctx context.Context, c *link.Conn, job string, p changes.Position) (bool, error) {
	texts, err := checkpoint.Positions(ctx, c, job)
	if err != nil {
		return false, err
	}
	for _, text := range texts {
		at, err := changes.Decode(text)
		if err != nil {
			return false, err
		}
		if at.IsZero() || !at.Covers(p) {
			return false, nil
		}
	}
	return len(texts) > 0, nil
}
