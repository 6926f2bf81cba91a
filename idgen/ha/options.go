package ha

import (
	"cmp"
	"time"
)

// Options are the settings of a Generator. Zero fields get the default in parentheses.
type Options struct {
	Slow    time.Duration // duration from which a call is slow (100 ms)
	Strikes int           // slow calls within Within that make a member slow (3)
	Within  time.Duration // (10 s)
	Timeout time.Duration // time limit of a call to a member while others are left to ask (1 s)
	Aside   time.Duration // time from a failure, or a probe, to the next probe (2 s)
	// Changed is called for each change of a member's state, one at a time. It must not call the generator. It may be
	// nil.
	Changed func(Member)
}

func (o Options) withDefaults() Options {
	o.Slow = cmp.Or(o.Slow, 100*time.Millisecond)
	o.Strikes = cmp.Or(o.Strikes, 3)
	o.Within = cmp.Or(o.Within, 10*time.Second)
	o.Timeout = cmp.Or(o.Timeout, time.Second)
	o.Aside = cmp.Or(o.Aside, 2*time.Second)
	if o.Changed == nil {
		o.Changed = func(Member) {}
	}
	return o
}
