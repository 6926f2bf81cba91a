package applier

import "sync/atomic"

// countdown calls then once all have passed it.
type countdown struct {
	left atomic.Int64
	then func()
}

func newCountdown(n int, then func()) *countdown {
	c := &countdown{then: then}
	c.left.Store(int64(n))
	return c
}

func (c *countdown) pass() {
	if c.left.Add(-1) == 0 {
		c.then()
	}
}
