package ha

import (
	"cmp"
	"time"
)

// Options are the settings of a Generator. Fields left zero get the value that their comment names.
type Options struct {
	Slow    time.Duration // a call that takes longer counts as slow (100 ms)
	Strikes int           // so many slow calls within Within make a member slow (3)
	Within  time.Duration // (10 s)
	Timeout time.Duration // of a call to a member while others are left to ask (1 s)
	Aside   time.Duration // from a failure, or a probe, to the next probe (2 s)
	// Changed is told of each change of a member's state, one at a time; it must not call the generator. May be nil.
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
