package segment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Keyed is a PeriodStore with a counter for each key, such as a sequence for each branch. It may have one for each key and
// period.
//
// The counters are in keyedParts keys of the store, by the key's hash, so their number doesn't depend on how many keys there
// are. Counters of periods that are over are removed. Those of a period that never ends are kept for ever, because their
// numbers continue. A new key that would be one too many is refused.
type Keyed struct {
	*CASStore
	// Limit is how many keys a period has room for. The keys are counted in parts, so more may be accepted.
	Limit int
}

// keyedParts is into how many keys of the store the counters are divided. It is a property of stored data.
const keyedParts = 1024

// ErrTooManyKeys means that there is no room for a new key. Keys that were used before have their numbers.
var ErrTooManyKeys = errors.New("there are too many values to count for")

// keyedRecord is the value of a key of the store:
//
//	{"grants":3,"over":0,"periods":[{"name":"20260301","from":1772323200000,"bounds":{"6541":40}}],"by":"proxy-1","at":"2026-03-01T12:00:00Z"}
//
// Periods are in the order of their times. The only period of a counter without time has no name.
type keyedRecord struct {
	// Grants is the number of grants made. A store with fewer grants than a process has seen was restored to an
	// earlier state.
	Grants uint64 `json:"grants"`
	// Over: of the periods that begin before this time, in ms since 1970, only the listed ones have numbers left.
	Over    int64         `json:"over,omitempty"`
	Periods []keyedPeriod `json:"periods"`
	By      string        `json:"by"`
	At      time.Time     `json:"at"`
}

// keyedPeriod is one period.
type keyedPeriod struct {
	Name   string            `json:"name,omitempty"`
	From   int64             `json:"from"`   // earliest time at which one of its numbers was requested, in ms since 1970
	Bounds map[string]uint64 `json:"bounds"` // the last number granted of each key
}

// ExtendPeriod implements PeriodStore. It is linearizable like Extend.
func (k Keyed) ExtendPeriod(ctx context.Context, counter string, p Period, n uint64) (g Grant, err error) {
	part := fmt.Sprintf("%s%s/values/%03x", k.prefix, counter, xxhash.Sum64String(p.Key)%keyedParts)
	err = k.retried(ctx, func(ctx context.Context) (err error) {
		if g, err = k.attemptKey(ctx, part, p, n); err != nil {
			err = fmt.Errorf("extend %s for %q %s: %w", part, p.Key, p.Name, err)
		}
		return err
	})
	return g, err
}

func (k Keyed) attemptKey(ctx context.Context, part string, p Period, n uint64) (Grant, error) {
	for {
		floor := k.seen.Of(part)
		value, revision, err := k.kv.Get(ctx, part)
		if err != nil {
			return Grant{}, fmt.Errorf("read it: %w", unanswered{err})
		}
		var r keyedRecord
		if revision != 0 {
			if err := decode(value, &r); err != nil {
				return Grant{}, err
			}
		}
		if r.Grants < floor {
			return Grant{}, fmt.Errorf("%w: the store says %d grants, this process has seen %d: the store has lost grants, as a restored backup does; "+
				"write bounds above every number in use into the key, and %d grants", ErrWentBack, r.Grants, floor, floor)
		}
		bound, err := r.extend(p, n, roomFor(k.Limit))
		if err != nil {
			return Grant{}, err
		}
		r.Grants, r.By, r.At = r.Grants+1, k.who, k.now().UTC()
		ok, err := k.kv.CompareAndSwap(ctx, part, revision, encode(r))
		if err != nil {
			return Grant{}, fmt.Errorf("compare-and-swap: %w: these numbers may be lost", unanswered{err})
		}
		if ok {
			k.seen.Saw(part, r.Grants)
			return Grant{bound - n + 1, bound}, nil
		}
	}
}

// roomFor returns how many keys of a period one part has room for, so that all together have room for limit, although hashes
// don't spread them evenly: six standard deviations more than their share.
func roomFor(limit int) int {
	share := float64(limit) / keyedParts
	return int(math.Ceil(share + 6*math.Sqrt(share) + 6))
}

// extend adds the requested numbers and returns the key's new bound. It removes periods that are over.
func (r *keyedRecord) extend(p Period, n uint64, room int) (bound uint64, err error) {
	from := p.At.UnixMilli()
	i := slices.IndexFunc(r.Periods, func(of keyedPeriod) bool { return of.Name == p.Name })
	switch {
	case i >= 0:
	case p.Name != "" && from < r.Over:
		return 0, ErrPeriodOver
	default:
		i = len(r.Periods)
		r.Periods = append(r.Periods, keyedPeriod{p.Name, from, map[string]uint64{}})
	}
	of := &r.Periods[i]
	before, known := of.Bounds[p.Key]
	switch {
	case !known && len(of.Bounds) >= room:
		return 0, ErrTooManyKeys
	case before+n < before:
		return 0, fmt.Errorf("it has no numbers behind %d", before)
	}
	bound = before + n
	of.Bounds[p.Key], of.From = bound, min(of.From, from)
	slices.SortFunc(r.Periods, func(a, b keyedPeriod) int { return cmp.Compare(a.From, b.From) })
	for len(r.Periods) > periodsKept || len(r.Periods) > 2 && r.keys() > 2*room {
		// Any time in a removed period is before the earliest known time of the first one left.
		over := r.Periods[0]
		r.Over, r.Periods = max(r.Over, r.Periods[1].From), r.Periods[1:]
		if over.Name == p.Name {
			return 0, ErrPeriodOver
		}
	}
	return bound, nil
}

// keys returns the number of counters.
func (r *keyedRecord) keys() (n int) {
	for _, p := range r.Periods {
		n += len(p.Bounds)
	}
	return n
}
