package cutover

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Effects are what the lines of the order do. The giver owns the genes before
// the step, the receiver after it; a rollback is the same step with the two the
// other way round. Each returns when its effect is there, or the reason why it
// is not. Those before Commit may be done any number of times.
type Effects struct {
	// Check that the step may begin: the verification is fresh, the lag is low,
	// no transaction is too old, and every proxy knows that the job exists.
	Check func(context.Context) error
	// Fence the genes: announce the coming change, and wait until every proxy
	// holds new statements on them and has none under way, and no prepared
	// transaction is left on the giver.
	Fence func(context.Context) error
	// Position: read the giver's position, now, and wait until the receiver has
	// applied past it; then compare again what changed since the last comparison.
	Position func(context.Context) error
	// Reverse records the receiver's position as the beginning of the stream back.
	Reverse func(context.Context) error
	// Commit hands the genes over and takes the fence away, by one
	// compare-and-swap. An error wraps [ErrUnknown] if it may have happened.
	Commit func(context.Context) error
	// Settle finds out whether a Commit happened whose outcome is unknown.
	Settle func(context.Context) (committed bool, err error)
	// Release takes the fence away without handing anything over. It does nothing
	// where there is no fence.
	Release func(context.Context) error
}

// ErrUnknown is wrapped by the error of a [Effects.Commit] that may have
// happened, and of a step of which that could not be found out.
var ErrUnknown = errors.New("whether the genes were handed over is unknown")

// The stop points, in their order: the function of tests is called before the
// line that has this name.
const (
	BeforeCheck    = "check"
	BeforeFence    = "fence"
	BeforePosition = "position"
	BeforeReverse  = "reverse"
	BeforeCommit   = "commit"
	AfterCommit    = "committed"
	BeforeRelease  = "release"
)

// Points is all stop points.
var Points = []string{BeforeCheck, BeforeFence, BeforePosition, BeforeReverse, BeforeCommit, AfterCommit, BeforeRelease}

// Step is one step.
type Step struct {
	Effects
	// Before bounds the check.
	Before time.Duration
	// Within bounds the time from the fence to the commit: statements are held as
	// long.
	Within time.Duration
	// Undo bounds the release after a failure, and the settling of a commit.
	Undo time.Duration
	// Stop is called at the stop points, in tests.
	Stop func(point string)
	// Lines are what the step came to, in order.
	Lines []Line
}

// Line is one line of the order, as it went.
type Line struct {
	Name         string
	Began, Ended time.Time
	Failed       bool
}

// Run takes the step. It returns nil if the genes were handed over. Any other
// outcome has left them with the giver and no fence behind, unless the error
// says otherwise.
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

// checked is the part of a step before anything is held.
func (s *Step) checked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Before)
	defer cancel()
	return s.line(BeforeCheck, func() error { return s.Check(ctx) })
}

// fenced is the part of a step during which statements wait.
func (s *Step) fenced(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.Within)
	defer cancel()
	for _, line := range []struct {
		name string // and of its stop point
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

// line does one, and notes how it went.
func (s *Step) line(name string, do func() error) error {
	began := time.Now()
	err := do()
	s.Lines = append(s.Lines, Line{Name: name, Began: began, Ended: time.Now(), Failed: err != nil})
	return err
}

// settle turns an unknown outcome into a known one. Where that can't be done
// nothing is undone: whoever takes the job up reads what happened.
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

// undo releases what is held, whatever the step's own context says: a fence that
// is left behind is an outage.
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
