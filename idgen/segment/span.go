package segment

import (
	"math"
	"sync/atomic"
)

// span is a segment in use. Its numbers are taken without a lock.
//
// Invariant: a number below next was taken by exactly one caller or is lost.
type span struct {
	next    atomic.Uint64 // the next number; past last when used up
	trigger atomic.Uint64 // taking this number or a later one requests a standby; asked once requested
	first   uint64
	last    uint64 // at most 2^63-1, so that next can pass it without wrapping

	_ [32]byte // pads to a cache line, so that two counters in use don't share one
}

const (
	asked = math.MaxUint64 // no number is this large

	tenth = 10 // after a failed load a standby is requested again when 1/tenth more of a span is taken
)

// newSpan returns a span that requests a standby when the given percentage of it is taken; with 100 it never
// does.
func newSpan(first, last uint64, preload int) *span {
	s := &span{first: first, last: last}
	s.next.Store(first)
	s.trigger.Store(first + percent(s.size(), preload))
	return s
}

// percent returns that part of n, without a wrap.
func percent(n uint64, part int) uint64 {
	return n/100*uint64(part) + n%100*uint64(part)/100
}

func (s *span) size() uint64 { return s.last - s.first + 1 }

// take returns the first of n consecutive numbers, or false if n are not left. It checks before it adds, so that next
// exceeds last by no more than the runs of concurrent callers.
func (s *span) take(n uint64) (first uint64, ok bool) {
	next := s.next.Load()
	if next > s.last || s.last-next < n-1 {
		return 0, false
	}
	first = s.next.Add(n) - n
	return first, first <= s.last && s.last-first >= n-1
}

// wantsStandby returns true for exactly one of the callers that took a number at or past the trigger.
func (s *span) wantsStandby(taken uint64) bool {
	at := s.trigger.Load()
	return taken >= at && at != asked && s.trigger.CompareAndSwap(at, asked)
}

// askAgain sets the trigger after a failed load, a tenth of the span further on.
func (s *span) askAgain() { s.trigger.Store(s.next.Load() + s.size()/tenth) }

// taken returns how many numbers were taken or lost so far.
func (s *span) taken() uint64 { return min(s.next.Load(), s.last+1) - s.first }
