package segment

import (
	"context"
	"errors"
	"time"

	"locus/idgen/orderid"
)

// startLoad returns the load in progress, and starts one if there is none. The caller holds mu, and the counter isn't
// finished.
func (s *Segments) startLoad(c *counter) *load {
	if c.load == nil {
		began, taken := s.options.Now(), c.taken()
		size := max(c.pace.next(taken, began, &s.options), c.longest)
		l := &load{done: make(chan struct{}), size: size, began: began, taken: taken}
		c.load = l
		s.loaders.Go(func() { s.run(c, l) })
	}
	return c.load
}

// run is the body of the one goroutine that loads a segment for a counter.
func (s *Segments) run(c *counter, l *load) {
	ctx, cancel := context.WithTimeout(s.loading, s.options.LoadTimeout)
	grant, err := s.extend(ctx, s.name(c.group), l)
	cancel()
	if err != nil {
		grant = Grant{}
	}
	l.err = s.settle(c, l, grant, err)
	if l.err == nil {
		s.counts.loads.Add(1)
	} else {
		s.counts.failed.Add(1)
	}
	close(l.done)
	s.options.Observe(Loaded{s.name(c.group), l.size, grant, s.max, s.options.Now().Sub(l.began), l.err})
}

// extend requests the numbers of a load, at least as many as the store's own step.
func (s *Segments) extend(ctx context.Context, counter string, l *load) (Grant, error) {
	if s.options.Step != nil {
		step, err := s.options.Step(ctx, counter)
		if err != nil {
			return Grant{}, err
		}
		l.size = max(l.size, min(step, s.options.MaxStep))
	}
	return s.store.Extend(ctx, counter, l.size)
}

// settle applies the result of a load to the counter: a standby, or an error for waiting callers.
func (s *Segments) settle(c *counter, l *load, grant Grant, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load = nil
	if err == nil {
		err = grant.Check(l.size, c.highest)
	}
	if errors.Is(err, ErrMoved) {
		c.finished = err // the rest in memory is still valid
	}
	if err != nil {
		if current := c.current.Load(); current != nil {
			current.askAgain()
		}
		return err
	}
	c.highest = grant.Last
	if c.finished == nil && grant.First > s.max {
		c.finished = &orderid.ExhaustedError{Layout: s.layout}
	}
	if c.finished != nil { // perhaps closed meanwhile; the numbers are lost
		return c.finished
	}
	c.standby = newSpan(grant.First, min(grant.Last, s.max), s.options.Preload)
	c.pace.loaded(l.taken, l.began, l.size)
	return nil
}

// close ends the counter. Its numbers are lost, and no further load starts.
func (c *counter) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finished = ErrClosed
	c.standby = nil
	c.use(nil)
}

// load is one call to the store.
type load struct {
	size  uint64 // run may raise it before it requests the numbers
	began time.Time
	taken uint64 // numbers of the counter that were taken at the start of the load

	done chan struct{}
	err  error // written before done is closed
}
