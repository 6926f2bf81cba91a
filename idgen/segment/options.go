package segment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"locus/idgen/orderid"
)

// Options are the settings of Segments. Zero fields get the default in parentheses. Groups has no default, because it
// is a property of the cluster.
type Options struct {
	// Groups is the number of counter groups, 1 to 65,536. All processes of a cluster have the same for one Generation.
	Groups int

	// Generation is how often the number of groups was changed; see Grouped.
	Generation int

	// Sizing determines the size of segments (Measured).
	Sizing Sizing

	// A segment has as many numbers as are taken in Buffer (10 s) at the measured rate, from MinStep (1,000, or MaxStep if
	// that is less) to MaxStep (10,000,000). MaxStep is also the longest run of consecutive numbers that Take returns.
	MinStep, MaxStep uint64
	Buffer           time.Duration

	// Preload is the percentage of a segment that is used before the next one is loaded (10), 1 to 100. With 100 the next
	// one is loaded when a caller needs it.
	Preload int

	// Step, if not nil, returns a smallest size of segments that the store has for a counter. A segment is at least that
	// large, and not larger than MaxStep. It is called before each load, by the goroutine that loads, with the load's time
	// limit. After an error there is no segment.
	Step func(ctx context.Context, counter string) (uint64, error)

	// Ordered keeps no numbers in memory. Each call requests its numbers from the store after it has begun, together with
	// calls that wait at the same time. So a call that begins after another one has returned, in whatever process, gets higher
	// numbers, provided that all processes have the option. It costs a request to the store for each call, or for those
	// that wait together. MinStep, Buffer, Sizing, Preload and Step have no effect.
	Ordered bool

	// Lazy disables the standby. It is for a process that takes a few numbers and exits, which would leave an unused
	// segment behind.
	Lazy bool

	// LoadTimeout is the time limit of one call to the store (10 s).
	LoadTimeout time.Duration

	// Now is the clock for measuring rates (time.Now). A clock that jumps makes a segment too large or too small and
	// has no other effect.
	Now func() time.Time

	// Observe, if not nil, is called after each load by the goroutine that made it, so perhaps concurrently. It is for
	// metrics, the log, and the warning that a counter is running out. It must not block.
	Observe func(Loaded)
}

// Loaded is the result of one load.
type Loaded struct {
	Counter string
	Size    uint64 // numbers requested
	Grant   Grant  // numbers granted, if Err is nil
	Max     uint64 // the last number that fits in the layout
	Took    time.Duration
	Err     error
}

const (
	maxGroups = 1 << 16
	// No sequence number needs the 64th bit, so sums of numbers and runs can't wrap.
	maxNumber  = 1<<63 - 1
	maxMaxStep = 1 << 32
)

func (o Options) withDefaults() Options {
	o.MinStep = cmp.Or(o.MinStep, min(1_000, cmp.Or(o.MaxStep, 1_000)))
	o.MaxStep = cmp.Or(o.MaxStep, max(o.MinStep, 10_000_000))
	o.Buffer = cmp.Or(o.Buffer, 10*time.Second)
	o.Preload = cmp.Or(o.Preload, 10)
	o.LoadTimeout = cmp.Or(o.LoadTimeout, 10*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Observe == nil {
		o.Observe = func(Loaded) {}
	}
	return o
}

// Sizing is a rule for the size of the next segment.
type Sizing int

const (
	// Measured makes segments last for Buffer at the measured rate.
	Measured Sizing = iota
	// Leaf doubles a segment that lasted less than 15 minutes and halves one that
	// lasted more than 30, as Leaf does.
	Leaf
)

// check reports all invalid options.
func (o Options) check(store Store, l orderid.Layout) error {
	err := o.checkSizes(store)
	if l.IsZero() {
		err = errors.Join(err, errors.New("segments: no layout: take one from orderid.ByName"))
	}
	return err
}

func (o Options) checkSizes(store Store) error {
	var errs []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("segments: "+format, args...))
		}
	}
	refuse(store == nil, "no store")
	refuse(o.Groups < 1 || o.Groups > maxGroups, "%d counter groups: a cluster has 1 to %d", o.Groups, maxGroups)
	refuse(o.MaxStep > maxMaxStep, "max step %d is above %d", o.MaxStep, uint64(maxMaxStep))
	refuse(o.MinStep > o.MaxStep, "min step %d is above max step %d", o.MinStep, o.MaxStep)
	refuse(o.Buffer < 0, "buffer of %s: it must be positive", o.Buffer)
	refuse(o.Preload < 1 || o.Preload > 100, "preload at %d %%: use 1 to 100", o.Preload)
	refuse(o.LoadTimeout < 0, "load timeout of %s: it must be positive", o.LoadTimeout)
	return errors.Join(errs...)
}
