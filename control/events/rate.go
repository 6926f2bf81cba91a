package events

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Limits of the rate of errors. The rate is too high from when both the share and the number are reached within
// one window, until the share has been under half of maxShare for [calm].
const (
	rateWindow = 30 * time.Second
	maxShare   = 0.05
	minErrors  = 30
	calm       = time.Minute
)

// Rate finds out when many of a process's statements fail. One goroutine uses it. The zero value is ready.
type Rate struct {
	samples []sample  // one sample for the last window, and one for the window before
	began   time.Time // when the rate rose; zero: it is below its limit
	first   sample    // when it rose
	low     time.Time // since when it is below half of the limit; zero: it is not
}

// sample contains counters that only grow.
type sample struct {
	at         time.Time
	statements uint64
	errors     map[uint16]uint64 // by MySQL's code
}

// Observe takes the current values of the counters. It returns at most one event, without a subject.
func (r *Rate) Observe(now time.Time, statements uint64, errors map[uint16]uint64) []Event {
	latest := sample{now, statements, maps.Clone(errors)}
	r.samples = append(r.samples, latest)
	for len(r.samples) > 2 && now.Sub(r.samples[1].at) >= rateWindow {
		r.samples = r.samples[1:]
	}
	before := r.samples[0]
	if now.Sub(before.at) < rateWindow {
		return nil
	}
	failed, code := latest.since(before)
	share := float64(failed) / float64(max(1, latest.statements-before.statements))
	if r.began.IsZero() {
		if share < maxShare || failed < minErrors {
			return nil
		}
		r.began, r.first, r.low = before.at, before, time.Time{}
		return []Event{{
			At: now, Kind: Errors, Failed: true,
			What: fmt.Sprintf("%.0f %% of the statements fail: %d in %v, most of them with error %d", min(100, 100*share), failed, now.Sub(before.at).Round(time.Second), code),
		}}
	}
	if share >= maxShare/2 {
		r.low = time.Time{}
		return nil
	}
	if r.low.IsZero() {
		r.low = now
	}
	if now.Sub(r.low) < calm {
		return nil
	}
	failed, code = latest.since(r.first)
	e := Event{At: now, Kind: Errors, Took: r.low.Sub(r.began), What: fmt.Sprintf("few statements fail again, after %d errors, most of them %d", failed, code)}
	r.began, r.first = time.Time{}, sample{}
	return []Event{e}
}

// since returns the number of errors since an earlier sample, and the code of most of them.
func (s sample) since(before sample) (n uint64, code uint16) {
	most := uint64(0)
	for _, c := range slices.Sorted(maps.Keys(s.errors)) {
		of := s.errors[c] - before.errors[c]
		if n += of; of > most {
			most, code = of, c
		}
	}
	return n, code
}
