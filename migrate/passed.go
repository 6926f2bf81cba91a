package migrate

import (
	"context"
	"fmt"

	"locus/migrate/changes"
	"locus/migrate/checkpoint"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/owned"
)

const (
	// stampFrom is the number of recorded steps from which a step first records the streams' positions, so that
	// old steps can be dropped.
	stampFrom = 8
	// mostHanded bounds the recorded steps.
	mostHanded = 64
)

// passed holds the recorded positions of the streams, by leg and by the side that is read. After a restart,
// this or another process reads both logs from there.
type passed map[string]*[2][]changes.Position

// findPassed reads the recorded positions of the streams, so that the job's record can drop the steps that they
// have passed.
func (h *handover) findPassed(ctx context.Context) error {
	if len(h.read.Job.Handed) == 0 {
		return nil
	}
	if err := h.readPassed(ctx); err != nil {
		return err
	}
	if len(h.read.Job.Unpassed(h.passed.passes)) < stampFrom {
		return nil
	}
	if err := h.stamp(ctx); err != nil {
		return err
	}
	if err := h.readPassed(ctx); err != nil {
		return err
	}
	if n := len(h.read.Job.Unpassed(h.passed.passes)); n >= mostHanded {
		return fmt.Errorf("a stream has not passed the last %d steps yet: the next one waits for it", n)
	}
	return nil
}

func (h *handover) readPassed(ctx context.Context) error {
	h.passed = passed{}
	for _, p := range h.passes {
		var at [2][]changes.Position
		var err error
		if at[owned.Source], err = recorded(ctx, p.at(owned.Target, h), p.leg.id); err != nil {
			return err
		}
		if at[owned.Target], err = recorded(ctx, p.at(owned.Source, h), backJob(p.leg.id)); err != nil {
			return err
		}
		h.passed[p.leg.id] = &at
	}
	return nil
}

// recorded returns the positions of a stream's workers, which are stored on the server to which the stream
// writes.
func recorded(ctx context.Context, c *link.Conn, stream string) (all []changes.Position, err error) {
	texts, err := checkpoint.Positions(ctx, c, stream)
	if checkpoint.None(err) { // no stream has written a position there yet
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		p, err := changes.Decode(text)
		if err != nil {
			return nil, err
		}
		if !p.IsZero() { // zero: the stream starts later than now
			all = append(all, p)
		}
	}
	return all, nil
}

// stamp records the positions of the streams.
func (h *handover) stamp(ctx context.Context) error {
	for _, p := range h.passes {
		for _, st := range p.leg.streams.running() {
			if err := st.Stamp(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// passes reports whether both streams of every leg have passed a step.
func (p passed) passes(step job.Handed) bool {
	for leg, at := range step.Bounds {
		if p[leg] == nil || !beyond(p[leg][owned.Source], at.Source) || !beyond(p[leg][owned.Target], at.Target) {
			return false
		}
	}
	return true
}

func beyond(all []changes.Position, text string) bool {
	bound, err := changes.ParseBound(text)
	if err != nil {
		return false
	}
	for _, p := range all {
		if !bound.Passed(p) {
			return false
		}
	}
	return true
}
