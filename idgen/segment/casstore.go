package segment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// KV is a key-value store with compare-and-swap, such as etcd. Both methods are linearizable across processes and safe for
// concurrent use.
type KV interface {
	// Get returns the value and the revision of a key. The revision of a missing key is 0. Otherwise it is one that the key
	// never had before, even if the key was deleted in between.
	Get(ctx context.Context, key string) (value []byte, revision int64, err error)
	// CompareAndSwap writes the value if the key still has the given revision. If ok is false, nothing was written. After an
	// error the outcome is unknown: the value may be written, even later.
	CompareAndSwap(ctx context.Context, key string, revision int64, value []byte) (ok bool, err error)
}

// CASStore is a Store over a KV. It has one key per counter, whose value holds how far the counter is granted, by whom and
// when. It is safe for concurrent use. Processes, and CASStores of one process, may share the keys.
type CASStore struct {
	kv     KV
	prefix string
	who    string
	now    func() time.Time
	seen   Seen // by key
	pause  time.Duration
	start  uint64 // the first number of a counter; 0 for 1
}

var _ Store = (*CASStore)(nil)

// NewCASStore returns a store whose keys have a prefix. who identifies this process to operators who read a key. now is the
// clock.
func NewCASStore(kv KV, prefix, who string, now func() time.Time) *CASStore {
	return &CASStore{kv: kv, prefix: prefix, who: who, now: now, pause: firstPause}
}

// StartingAt makes lower counters begin with that number. It is for a store that is not used yet, and returns that store.
func (s *CASStore) StartingAt(start uint64) *CASStore {
	s.start = start
	return s
}

// ErrEnd means that a counter has no such numbers left, since numbers have 64 bits.
var ErrEnd = errors.New("no numbers are left")

const (
	// attempts is how often one call of Extend asks a store that doesn't answer or returns an error. A failing node refuses
	// requests at once, and leaves requests that it forwarded to its leader unanswered. Until there is a new leader, which
	// takes a second or two, no write is possible.
	attempts = 8
	// firstPause is the pause before the second attempt. Each pause is twice as long as the previous one, so that attempts
	// that fail at once last about two seconds together.
	firstPause = 20 * time.Millisecond
)

// unanswered is an error of the store itself, after which nothing is known.
type unanswered struct{ error }

func (e unanswered) Unwrap() error { return e.error }

// Extend grants the next n numbers of the counter. Numbers of an attempt with unknown outcome are lost. The next attempt reads
// the bound again. A late write of the lost attempt was either seen by that read, or makes the next swap fail, or fails
// itself, because a revision is swapped only once.
func (s *CASStore) Extend(ctx context.Context, counter string, n uint64) (g Grant, err error) {
	key := s.prefix + counter
	err = s.retried(ctx, func(ctx context.Context) (err error) { g, err = s.attempt(ctx, key, n, 0); return err })
	return g, err
}

// retried repeats the attempt while the store doesn't answer. Each attempt gets its share of ctx's remaining time.
func (s *CASStore) retried(ctx context.Context, attempt func(context.Context) error) error {
	for left, pause := attempts, s.pause; ; left, pause = left-1, 2*pause {
		err := within(ctx, left, attempt)
		if left == 1 || !errors.As(err, new(unanswered)) {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// within runs one of the remaining attempts.
func within(ctx context.Context, left int, attempt func(context.Context) error) error {
	if deadline, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return attempt(ctx)
}

// attempt grants n numbers. If n is 0, it grants the numbers up to above, perhaps none.
func (s *CASStore) attempt(ctx context.Context, key string, n, above uint64) (Grant, error) {
	raise := n == 0 && above > 0
	for {
		bound, revision, moved, err := s.bound(ctx, key)
		if err == nil && moved {
			err = ErrMoved
		}
		switch {
		case err != nil && raise:
			return Grant{}, fmt.Errorf("raise %s to %d: %w", key, above, err)
		case err != nil:
			return Grant{}, fmt.Errorf("extend %s by %d: %w", key, n, err)
		}
		bound = s.begun(bound)
		if raise {
			if above <= bound {
				return Grant{First: bound + 1, Last: bound}, nil
			}
			n = above - bound
		}
		if n == 0 || n > math.MaxUint64-bound {
			return Grant{}, fmt.Errorf("extend %s by %d: %w: it is granted up to %d, and numbers end at %d", key, n, ErrEnd, bound, uint64(math.MaxUint64))
		}
		next := record{Bound: bound + n, By: s.who, At: s.now().UTC()}
		ok, err := s.kv.CompareAndSwap(ctx, key, revision, encode(next))
		if err != nil {
			return Grant{}, fmt.Errorf("extend %s from %d to %d: compare-and-swap: %w: these numbers may be lost",
				key, bound, next.Bound, unanswered{err})
		}
		if ok {
			s.seen.Saw(key, next.Bound)
			return Grant{bound + 1, next.Bound}, nil
		}
		// Another process was faster, so there is progress.
	}
}

// begun returns the bound of a counter, with the configured start.
func (s *CASStore) begun(bound uint64) uint64 { return max(bound, max(s.start, 1)-1) }

// Bound returns how far a counter is granted. The next number is above it.
func (s *CASStore) Bound(ctx context.Context, counter string) (uint64, error) {
	bound, _, moved, err := s.bound(ctx, s.prefix+counter)
	if err == nil && moved {
		err = ErrMoved
	}
	if err != nil {
		return 0, fmt.Errorf("bound of %s: %w", counter, err)
	}
	return s.begun(bound), nil
}

// Raise makes all later grants begin at above or higher, and returns how far the counter is granted then. It skips only
// numbers below above, even with concurrent calls.
func (s *CASStore) Raise(ctx context.Context, counter string, above uint64) (bound uint64, err error) {
	if above == 0 {
		return s.Bound(ctx, counter)
	}
	var g Grant
	key := s.prefix + counter
	err = s.retried(ctx, func(ctx context.Context) (err error) { g, err = s.attempt(ctx, key, 0, above); return err })
	return g.Last, err
}

// bound reads how far the counter is granted. It reads the highest observed bound first, because a later one may be written in
// the meantime.
func (s *CASStore) bound(ctx context.Context, key string) (bound uint64, revision int64, moved bool, err error) {
	floor := s.seen.Of(key)
	value, revision, err := s.kv.Get(ctx, key)
	if err != nil {
		return 0, 0, false, fmt.Errorf("read it: %w", unanswered{err})
	}
	if revision != 0 {
		r, err := decodeRecord(value)
		if err != nil {
			return 0, 0, false, err
		}
		if r.Paused {
			return 0, 0, false, &PausedError{s, key, revision}
		}
		bound, moved = r.Bound, r.Moved
	}
	if bound < floor {
		return 0, 0, false, fmt.Errorf("%w: the store says %d, this process has seen %d: the store has lost grants, as a restored backup does; "+
			"write a bound above every number in use into the key", ErrWentBack, bound, floor)
	}
	s.seen.Saw(key, bound)
	return bound, revision, moved, nil
}
