package segment

import (
	"fmt"
	"sync"
	"sync/atomic"

	"locus/idgen/together"
)

// counter generates the numbers of one group of genes.
type counter struct {
	current atomic.Pointer[span] // read by every Take; written under mu; nil before the first load and after Close

	mu       sync.Mutex // guards the fields below; never held across a wait
	standby  *span      // loaded but not yet in use
	load     *load      // the load in progress, at most one
	highest  uint64     // the largest number granted to this process
	longest  uint64     // the longest run that found no room; segments are at least as long
	finished error      // why no further segment will be loaded: closed or exhausted
	pace     pace

	group int // never changes

	// together takes the numbers of calls if Options.Ordered is set. With it the struct has whole cache lines, because
	// counters are adjacent in a slice.
	together *together.Numbers
}

// name returns a counter's name in the store. It has the same length for all groups, and differs for each generation.
func name(generation, group int) string {
	if generation == 0 {
		return fmt.Sprintf("g/%05d", group)
	}
	return fmt.Sprintf("g%d/%05d", generation, group)
}

// taken returns how many numbers were ever taken. The caller holds mu.
func (c *counter) taken() uint64 {
	if current := c.current.Load(); current != nil {
		return c.pace.finished + current.taken()
	}
	return c.pace.finished
}

// use replaces the current segment. The caller holds mu.
func (c *counter) use(next *span) {
	c.pace.finished = c.taken()
	c.current.Store(next)
}

// prepare loads a standby in the background while current is in use.
func (s *Segments) prepare(c *counter, current *span) {
	if s.options.Lazy {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.Load() == current && c.standby == nil && c.finished == nil {
		s.startLoad(c)
	}
}

// advance is called if current has no room for a run of n. It replaces current by the standby, or returns the load to wait
// for. If it returns neither, another caller has already replaced current, and the caller must check again.
func (s *Segments) advance(c *counter, current *span, n uint64) (*load, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current.Load() != current {
		return nil, nil
	}
	c.longest = max(c.longest, n)
	if c.standby != nil {
		c.use(c.standby) // if it is too short as well, advance is called again
		c.standby = nil
		return nil, nil
	}
	if c.finished != nil {
		return nil, c.finished
	}
	return s.startLoad(c), nil
}
