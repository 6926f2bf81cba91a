package generators

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"locus/idgen"
)

// membersOf makes the members of an ha generator at the same time, within the time that one of its calls has. A member that
// can't be made now, since what it needs does not answer, is made at its first use. If none can be made, all get more time, up to
// a limit. Then the error contains the reasons.
func (m maker) membersOf(ctx context.Context, of []string, counter string, within time.Duration) ([]idgen.Numbers, error) {
	var members []*later
	for i, name := range of {
		members = append(members, &later{opening: make(chan struct{}, 1), into: m.into, open: func(ctx context.Context, into *generator) (idgen.Numbers, error) {
			return maker{m.Set, m.declared, into}.make(ctx, name, counterOf(counter, i, name))
		}})
	}
	for ; ; within *= 2 {
		all, late, errs := opened(ctx, members, of, within)
		if len(errs) < len(of) {
			return all, nil
		}
		if !late || ctx.Err() != nil {
			return nil, errors.Join(errs...)
		}
	}
}

// opened makes the members that can be made within that time. late reports that another one needs more.
func opened(ctx context.Context, members []*later, of []string, within time.Duration) (all []idgen.Numbers, late bool, errs []error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	all, failed := make([]idgen.Numbers, len(members)), make([]error, len(members))
	var opening sync.WaitGroup
	for i, member := range members {
		opening.Go(func() { all[i], failed[i] = member.numbers(ctx) })
	}
	opening.Wait()
	for i, err := range failed {
		if err != nil {
			errs = append(errs, fmt.Errorf("generator %s: %w", of[i], err))
			all[i] = members[i]
		}
	}
	return all, ctx.Err() != nil && within < patience, errs
}

// later is a generator that is made at its first use, and again until that succeeds.
type later struct {
	open    func(ctx context.Context, into *generator) (idgen.Numbers, error)
	into    *generator
	opening chan struct{} // holds one token while it is made
	made    atomic.Pointer[idgen.Numbers]
}

// Fill implements idgen.Numbers.
func (l *later) Fill(ctx context.Context, into []uint64) error {
	numbers, err := l.numbers(ctx)
	if err != nil {
		return err
	}
	return numbers.Fill(ctx, into)
}

func (l *later) numbers(ctx context.Context) (idgen.Numbers, error) {
	if made := l.made.Load(); made != nil {
		return *made, nil
	}
	select {
	case l.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-l.opening }()
	if made := l.made.Load(); made != nil { // by whoever was faster
		return *made, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	parts := &generator{}
	numbers, err := l.open(ctx, parts)
	if err == nil && !l.into.join(parts) {
		err = errEnded
	}
	if err != nil {
		parts.end()
		return nil, err
	}
	l.made.Store(&numbers)
	return numbers, nil
}

var errEnded = errors.New("the generator was closed meanwhile")
