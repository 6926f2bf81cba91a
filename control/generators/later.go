package generators

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locus/idgen"
)

// membersOf makes the members of an ha generator, each within the time that one of its calls has. One that can't be made now,
// since what it needs does not answer, is made when it is asked. Without any they are all given more time, as long as there is
// some; then the error is what keeps them from it.
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

// opened makes the members that can be made within that time; late tells that one of the others needs more.
func opened(ctx context.Context, members []*later, of []string, within time.Duration) (all []idgen.Numbers, late bool, errs []error) {
	for i, member := range members {
		limited, cancel := context.WithTimeout(ctx, within)
		numbers, err := member.numbers(limited)
		if err != nil {
			late = late || limited.Err() != nil && within < patience
			errs = append(errs, fmt.Errorf("generator %s: %w", of[i], err))
			numbers = member
		}
		cancel()
		all = append(all, numbers)
	}
	return all, late, errs
}

// later is a generator that is made when it is asked for the first time, and again until that succeeds.
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
