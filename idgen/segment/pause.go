package segment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// pausePatience is how long a paused counter may stay unchanged before a process that needs numbers resumes it at its bound.
	// The process that has paused it may have crashed. It is shorter than the time that callers wait for numbers.
	pausePatience = 4 * time.Second
	// pausePoll is the interval at which a caller checks whether a paused counter was resumed.
	pausePoll = 10 * time.Millisecond
)

// errResumed means that a paused counter was resumed, or paused again, by another process.
var errResumed = errors.New("another process has resumed the counter meanwhile")

// PausedError means that a counter grants nothing at the moment, since a process is setting it to another bound.
type PausedError struct {
	store    *CASStore
	key      string
	revision int64
}

func (e *PausedError) Error() string { return "counter " + e.key + " is paused" }

// Wait waits until the counter is resumed. If it stays unchanged for too long, Wait resumes it at the bound that it had.
func (e *PausedError) Wait(ctx context.Context) error {
	since := e.store.now()
	tick := time.NewTicker(pausePoll)
	defer tick.Stop()
	for {
		p, err := e.store.paused(ctx, e.key)
		switch {
		case err != nil || p == nil:
			return err
		case p.revision != e.revision:
			e.revision, since = p.revision, e.store.now()
		case e.store.now().Sub(since) > pausePatience:
			if err := e.store.Resume(ctx, p, p.Bound); !errors.Is(err, errResumed) {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", e, context.Cause(ctx))
		}
	}
}

// Pause is a paused counter.
type Pause struct {
	Bound    uint64 // how far the counter was granted
	key      string
	revision int64
}

// Pause makes a counter refuse grants with a [PausedError], until it is resumed. A counter that is paused already is paused
// again, and the process that paused it before can't resume it any more.
func (s *CASStore) Pause(ctx context.Context, counter string) (*Pause, error) {
	key := s.prefix + counter
	for {
		value, revision, err := s.kv.Get(ctx, key)
		var r record
		if err == nil && revision != 0 {
			r, err = decodeRecord(value)
		}
		if err == nil && r.Moved {
			err = ErrMoved
		}
		if err != nil {
			return nil, fmt.Errorf("pause %s: %w", key, err)
		}
		next := encode(record{Bound: r.Bound, By: s.who, At: s.now().UTC(), Paused: true})
		ok, err := s.kv.CompareAndSwap(ctx, key, revision, next)
		if err != nil {
			return nil, fmt.Errorf("pause %s: compare-and-swap: %w: it may be paused for some seconds", key, err)
		}
		if !ok {
			continue
		}
		value, revision, err = s.kv.Get(ctx, key)
		if err == nil && !bytes.Equal(value, next) {
			err = errResumed
		}
		if err != nil {
			return nil, fmt.Errorf("pause %s: %w", key, err)
		}
		return &Pause{r.Bound, key, revision}, nil
	}
}

// paused returns the pause of a counter, or nil if it is not paused.
func (s *CASStore) paused(ctx context.Context, key string) (*Pause, error) {
	value, revision, err := s.kv.Get(ctx, key)
	if err != nil || revision == 0 {
		return nil, err
	}
	r, err := decodeRecord(value)
	if err != nil || !r.Paused {
		return nil, err
	}
	return &Pause{r.Bound, key, revision}, nil
}

// Resume makes a paused counter grant the numbers above a bound, which may be lower than the one that it had. The caller must
// know that no number above the bound is in use, or may be written yet, and that no other store remembers the former bound.
func (s *CASStore) Resume(ctx context.Context, p *Pause, bound uint64) error {
	s.seen.Forget(p.key)
	next := record{Bound: bound, By: s.who, At: s.now().UTC(), Empty: bound == 0}
	ok, err := s.kv.CompareAndSwap(ctx, p.key, p.revision, encode(next))
	switch {
	case err != nil:
		return fmt.Errorf("resume %s at %d: compare-and-swap: %w: the outcome is unknown", p.key, bound, err)
	case !ok:
		return fmt.Errorf("resume %s at %d: %w", p.key, bound, errResumed)
	}
	return nil
}
