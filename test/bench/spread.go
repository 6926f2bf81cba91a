package main

import (
	"math"
	"slices"
	"time"
)

// spread summarizes a figure with one value per round. NaN means that it could not be measured.
type spread struct{ median, least, most float64 }

func spreadOf(values []float64) spread {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(values) == 0 {
		return spread{math.NaN(), math.NaN(), math.NaN()}
	}
	slices.Sort(values)
	n := len(values)
	return spread{(values[(n-1)/2] + values[n/2]) / 2, values[0], values[n-1]}
}

// Figures of a sample.
func statements(s sample) float64 { return s.statements }
func bytesRate(s sample) float64  { return s.bytes }
func hopCPU(s sample) float64     { return micros(s.cpu) }
func clientCPU(s sample) float64  { return micros(s.clientCPU) }
func p50(s sample) float64        { return micros(s.p50) / 1000 }
func p99(s sample) float64        { return micros(s.p99) / 1000 }

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// find returns the series of a lane, or an empty one if it was not measured.
func find(all []series, lane string) series {
	for _, s := range all {
		if s.lane == lane {
			return s
		}
	}
	return series{}
}

// of returns the spread of a figure of a series.
func (s series) of(measure func(sample) float64) spread {
	return spreadOf(s.each(measure))
}

func (s series) each(measure func(sample) float64) []float64 {
	var values []float64
	for _, one := range s.samples {
		values = append(values, measure(one))
	}
	return values
}

// over returns the ratio of two series, round by round, so that a disturbance in a round affects both sides of
// its ratio.
func (s series) over(other series, measure func(sample) float64) spread {
	return pairwise(s, other, measure, func(a, b float64) float64 { return a / b })
}

// above returns the difference of two series, round by round.
func (s series) above(other series, measure func(sample) float64) spread {
	return pairwise(s, other, measure, func(a, b float64) float64 { return a - b })
}

func pairwise(s, other series, measure func(sample) float64, f func(a, b float64) float64) spread {
	a, b := s.each(measure), other.each(measure)
	var values []float64
	for i := range min(len(a), len(b)) {
		values = append(values, f(a[i], b[i]))
	}
	return spreadOf(values)
}

// quantile returns a quantile of sorted durations.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
