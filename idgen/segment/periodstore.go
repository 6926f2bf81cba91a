package segment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// periodsRecord is the value of the key of a counter that restarts with each period of time:
//
//	{"over":0,"periods":[{"name":"20260301","from":1772323200000,"bound":40}],"by":"proxy-1","at":"2026-03-01T12:00:00Z"}
//
// Periods are in the order of their times. A period whose entry was removed is over for good, since its numbers would
// restart at 1.
type periodsRecord struct {
	// Over: of the periods that begin before this time, in ms since 1970, only the listed ones have numbers left.
	Over    int64          `json:"over"`
	Periods []periodRecord `json:"periods"`
	By      string         `json:"by"`
	At      time.Time      `json:"at"`
}

// periodRecord is one period.
type periodRecord struct {
	Name  string `json:"name"`
	From  int64  `json:"from"`  // earliest time at which one of its numbers was requested, in ms since 1970
	Bound uint64 `json:"bound"` // the last number granted
}

// periodsKept is the number of periods that may still be used. It bounds the size of a key's value, and the
// clock skew between processes, to that number of periods.
const periodsKept = 128

// ErrPeriodOver means that a number of a long past period was requested.
var ErrPeriodOver = errors.New("the period is over: is the clock of this machine behind?")

// ExtendPeriod grants the next n numbers of a period, starting at 1. Periods of one counter follow each other, and none
// repeats. Keys have no counters of their own: see Keyed. It is linearizable like Extend.
func (s *CASStore) ExtendPeriod(ctx context.Context, counter string, p Period, n uint64) (g Grant, err error) {
	key := s.prefix + counter + "/periods"
	err = s.retried(ctx, func(ctx context.Context) (err error) {
		g, err = s.attemptPeriod(ctx, key, periodRecord{Name: p.Name, From: p.At.UnixMilli(), Bound: n})
		return err
	})
	return g, err
}

func (s *CASStore) attemptPeriod(ctx context.Context, key string, asked periodRecord) (Grant, error) {
	seen := key + "/" + asked.Name // by this process
	for {
		floor := s.seen.Of(seen)
		r, revision, err := s.periods(ctx, key)
		if err != nil {
			return Grant{}, fmt.Errorf("extend %s: %w", key, err)
		}
		bound, err := r.extend(asked)
		switch {
		case err != nil:
			return Grant{}, fmt.Errorf("extend %s for period %s: %w", key, asked.Name, err)
		case bound-asked.Bound < floor:
			return Grant{}, fmt.Errorf("%w: the store says that %d numbers of period %s are granted, this process has seen %d", ErrWentBack, bound-asked.Bound, asked.Name, floor)
		}
		r.By, r.At = s.who, s.now().UTC()
		ok, err := s.kv.CompareAndSwap(ctx, key, revision, encode(r))
		if err != nil {
			return Grant{}, fmt.Errorf("extend %s for period %s: compare-and-swap: %w: these numbers may be lost", key, asked.Name, unanswered{err})
		}
		if ok {
			s.seen.Saw(seen, bound)
			return Grant{bound - asked.Bound + 1, bound}, nil
		}
	}
}

func (s *CASStore) periods(ctx context.Context, key string) (r periodsRecord, revision int64, err error) {
	value, revision, err := s.kv.Get(ctx, key)
	if err != nil {
		return r, 0, fmt.Errorf("read it: %w", unanswered{err})
	}
	if revision != 0 {
		err = decode(value, &r)
	}
	return r, revision, err
}

// extend adds the requested numbers and returns the period's new bound. It removes periods that are long over.
func (r *periodsRecord) extend(asked periodRecord) (bound uint64, err error) {
	i := slices.IndexFunc(r.Periods, func(p periodRecord) bool { return p.Name == asked.Name })
	switch {
	case i >= 0:
		p := &r.Periods[i]
		if p.Bound+asked.Bound < p.Bound {
			return 0, fmt.Errorf("it has no numbers behind %d", p.Bound)
		}
		p.Bound, p.From = p.Bound+asked.Bound, min(p.From, asked.From)
		bound = p.Bound
	case asked.From < r.Over:
		return 0, ErrPeriodOver
	default:
		r.Periods, bound = append(r.Periods, asked), asked.Bound
	}
	slices.SortFunc(r.Periods, func(a, b periodRecord) int { return cmp.Compare(a.From, b.From) })
	if n := len(r.Periods) - periodsKept; n > 0 {
		// Any time in a removed period is before the earliest known time of the first one left.
		r.Over, r.Periods = max(r.Over, r.Periods[n].From), r.Periods[n:]
		if !slices.ContainsFunc(r.Periods, func(p periodRecord) bool { return p.Name == asked.Name }) {
			return 0, ErrPeriodOver
		}
	}
	return bound, nil
}
