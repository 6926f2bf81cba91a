package segment

import "time"

// pace measures the rate at which a counter's numbers are taken between loads, and computes the size of a segment that
// lasts for the wanted time.
type pace struct {
	finished uint64 // numbers taken from spans no longer in use

	// The start of the last successful load, and the numbers taken by then. Zero before the first load.
	since time.Time
	by    uint64
	size  uint64 // size of that load
}

const (
	leafDoubles = 15 * time.Minute
	leafHalves  = 30 * time.Minute
)

// next returns the size of the next segment.
func (p *pace) next(taken uint64, now time.Time, o *Options) uint64 {
	if o.Sizing == Measured || p.since.IsZero() {
		return p.measured(taken, now, o)
	}
	size := p.size
	switch lasted := now.Sub(p.since); {
	case lasted < leafDoubles:
		size *= 2
	case lasted > leafHalves:
		size /= 2
	}
	return max(o.MinStep, min(o.MaxStep, size))
}

// measured returns max(min_step, min(max_step, measured rate × buffer)), or min_step before the first measurement.
func (p *pace) measured(taken uint64, now time.Time, o *Options) uint64 {
	if p.since.IsZero() || taken <= p.by {
		return o.MinStep
	}
	elapsed := now.Sub(p.since)
	if elapsed <= 0 {
		return o.MaxStep
	}
	wanted := float64(taken-p.by) * (o.Buffer.Seconds() / elapsed.Seconds())
	if wanted >= float64(o.MaxStep) {
		return o.MaxStep
	}
	return max(o.MinStep, uint64(wanted))
}

// loaded starts the next measurement at the beginning of a successful load.
func (p *pace) loaded(taken uint64, began time.Time, size uint64) {
	p.by, p.since, p.size = taken, began, size
}
