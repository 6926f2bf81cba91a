package segment

import (
	"context"
	"errors"

	"locus/idgen/orderid"
	"locus/idgen/together"
)

// inOrder returns the numbers of a counter for Options.Ordered: of one request at a time, which begins after all calls that
// it is for.
func (s *Segments) inOrder(c *counter) *together.Numbers {
	return together.New(1, 0, func(ctx context.Context, n int) (uint64, error) {
		if err := s.beginGrant(c); err != nil {
			return 0, err
		}
		defer s.loaders.Done()
		ctx, cancel := context.WithTimeout(ctx, s.options.LoadTimeout)
		defer cancel()
		defer context.AfterFunc(s.loading, cancel)()
		began := s.options.Now()
		s.counts.waits.Add(1)
		grant, err := s.store.Extend(ctx, s.name(c.group), uint64(n))
		if err == nil {
			err = grant.Check(uint64(n), s.highestOf(c))
		}
		if err = s.endGrant(c, grant, err); err == nil {
			s.counts.loads.Add(1)
		} else {
			grant = Grant{}
			s.counts.failed.Add(1)
		}
		s.options.Observe(Loaded{s.name(c.group), uint64(n), grant, s.max, s.options.Now().Sub(began), err})
		return grant.First, err
	})
}

// beginGrant makes Close wait for a request, unless no further one may begin.
func (s *Segments) beginGrant(c *counter) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished == nil {
		s.loaders.Add(1)
	}
	return c.finished
}

func (s *Segments) highestOf(c *counter) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.highest
}

// endGrant records the result of a request. If it returns an error, the numbers are lost.
func (s *Segments) endGrant(c *counter, grant Grant, err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(err, ErrMoved) {
		c.finished = err
	}
	if err != nil {
		return err
	}
	c.highest = grant.Last
	switch exhausted := (&orderid.ExhaustedError{Layout: s.layout}); {
	case c.finished != nil: // closed meanwhile
		return c.finished
	case grant.First > s.max:
		c.finished = exhausted
		return exhausted
	case grant.Last > s.max:
		return exhausted
	}
	return nil
}
