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

// membersOf opens the members of an ha generator concurrently, within the time limit of one call. A member that
// can't be opened in time, because a server does not answer, is opened at its first use. If none can be opened,
// the limit is doubled up to a maximum. Then the error contains the reasons.
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

// opened returns the members that could be opened in time. late reports that another one needs more time.
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

// later is a generator that is opened at its first use. It retries until that succeeds.
type later struct {
	open    func(ctx context.Context, into *generator) (idgen.Numbers, error)
	into    *generator
	opening chan struct{} // of capacity 1; holds a token while the generator is being opened
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
	if made := l.made.Load(); made != nil { // by another goroutine
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
