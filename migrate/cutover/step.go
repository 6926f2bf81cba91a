package cutover

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Effects are the lines of a step, in their order. The old owner is the server that owns the genes before the step, and the
// new owner is the one that owns them afterwards. In a rollback the two are exchanged. Each function returns once its effect
// is complete, or an error. All functions before Commit may be repeated any number of times.
type Effects struct {
	// Check verifies that the step may begin: the verification is recent, the lag is low, no transaction is too old,
	// and every proxy knows the job.
	Check func(context.Context) error
	// Fence announces the coming change. It waits until every proxy pauses new statements on the genes and has none running,
	// and until no prepared transaction is left on the old owner.
	Fence func(context.Context) error
	// Position reads the old owner's current position and waits until the new owner has applied everything before it. Then it
	// compares the rows that changed since the last comparison again.
	Position func(context.Context) error
	// Reverse records the new owner's position as the start of the reverse stream.
	Reverse func(context.Context) error
	// Commit hands the genes over and removes the fence with one compare-and-swap. Its error wraps [ErrUnknown] if the
	// commit may have happened.
	Commit func(context.Context) error
	// Settle determines whether a Commit with unknown outcome happened.
	Settle func(context.Context) (committed bool, err error)
	// Release removes the fence without handing anything over. It does nothing if there is no fence.
	Release func(context.Context) error
}

// ErrUnknown is wrapped by the error of an [Effects.Commit] that may have happened, and of a step whose outcome could
// not be determined.
var ErrUnknown = errors.New("whether the genes were handed over is unknown")

// Stop points in order. Tests' function is called before the line with this name.
const (
	BeforeCheck    = "check"
	BeforeFence    = "fence"
	BeforePosition = "position"
	BeforeReverse  = "reverse"
	BeforeCommit   = "commit"
	AfterCommit    = "committed"
	BeforeRelease  = "release"
)

// Points lists all stop points.
var Points = []string{BeforeCheck, BeforeFence, BeforePosition, BeforeReverse, BeforeCommit, AfterCommit, BeforeRelease}

// Step is one step of a cut-over.
type Step struct {
	Effects
	// Before is the time limit of the check.
	Before time.Duration
	// Within is the time limit from the fence to the commit, while statements are held.
	Within time.Duration
	// Undo is the time limit of the release after a failure, and of settling a commit.
	Undo time.Duration
	// Stop is called at the stop points, in tests.
	Stop func(point string)
	// Lines records the lines of the step in order.
	Lines []Line
}

// Line records one line of the order.
type Line struct {
	Name         string
	Began, Ended time.Time
	Failed       bool
}

// Run takes the step. It returns nil if the genes were handed over. After an error the old owner still owns the genes and no
// fence is left, unless the error states something else.
func (s *Step) Run(ctx context.Context) error {
	s.at(BeforeCheck)
	if err := s.checked(ctx); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	err := s.fenced(ctx)
	if errors.Is(err, ErrUnknown) {
		err = s.settle(ctx, err)
	}
	if err == nil {
		s.at(AfterCommit)
		return nil
	}
	s.at(BeforeRelease)
	return errors.Join(err, s.undo(ctx))
}

// checked is the part of a step before statements are paused.
func (s *Step) checked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Before)
	defer cancel()
	return s.line(BeforeCheck, func() error { return s.Check(ctx) })
}

// fenced is the part of a step during which statements are paused.
func (s *Step) fenced(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Within)
	defer cancel()
	for _, line := range []struct {
		name string // also the name of its stop point
		do   func(context.Context) error
	}{
		{BeforeFence, s.Fence},
		{BeforePosition, s.Position},
		{BeforeReverse, s.Reverse},
		{BeforeCommit, s.Commit},
	} {
		s.at(line.name)
		if err := s.line(line.name, func() error { return line.do(ctx) }); err != nil {
			return fmt.Errorf("%s: %w", line.name, err)
		}
	}
	return nil
}

// line runs one line and records it.
func (s *Step) line(name string, do func() error) error {
	began := time.Now()
	err := do()
	s.Lines = append(s.Lines, Line{Name: name, Began: began, Ended: time.Now(), Failed: err != nil})
	return err
}

// settle resolves an unknown outcome. If that fails, nothing is undone, and the process that takes over the job determines the
// outcome.
func (s *Step) settle(ctx context.Context, unknown error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Undo)
	defer cancel()
	var committed bool
	err := s.line("settle", func() (err error) {
		committed, err = s.Settle(ctx)
		return err
	})
	switch {
	case err != nil:
		return errors.Join(unknown, fmt.Errorf("settle: %w", err))
	case committed:
		return nil
	}
	return fmt.Errorf("the genes were not handed over: %s", unknown.Error())
}

// undo removes the fence, even if the step's own context has ended, because a fence left behind is an outage.
func (s *Step) undo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Undo)
	defer cancel()
	if err := s.line(BeforeRelease, func() error { return s.Release(ctx) }); err != nil {
		return fmt.Errorf("release: %w; the proxies release the genes by themselves at the fence's deadline", err)
	}
	return nil
}

func (s *Step) at(point string) {
	if s.Stop != nil {
		s.Stop(point)
	}
}
