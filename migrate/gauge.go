package migrate

import (
	"context"
	"sync"
	"time"

	"locus/migrate/link"
)

// gaugeEvery is between two measurements of a stream's lag.
const gaugeEvery = 200 * time.Millisecond

// gauge measures how far a stream is behind: how long it takes until what its
// server has logged by now is applied. The time of logging would tell it no better
// than to a second on MariaDB, and by two clocks.
type gauge struct {
	mu    sync.Mutex
	took  time.Duration // the last time
	asked time.Time     // zero: nothing is waited for
}

// lag is at least how far the stream is behind.
func (g *gauge) lag(now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked.IsZero() {
		return g.took
	}
	return max(g.took, now.Sub(g.asked))
}

func (g *gauge) begin(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked.IsZero() { // what could not be measured goes on
		g.asked = now
	}
}

func (g *gauge) end(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.took, g.asked = now.Sub(g.asked), time.Time{}
}

// measure goes on until ctx ends.
func (s *stream) measure(ctx context.Context) {
	var c *link.Conn
	defer func() {
		if c != nil {
			_ = c.Close()
		}
	}()
	for {
		s.gauge.begin(time.Now())
		if err := s.measureOnce(ctx, &c); err == nil {
			s.gauge.end(time.Now())
		}
		if pause(ctx, gaugeEvery) != nil {
			return
		}
	}
}

// measureOnce waits until all is applied that is there, over a connection that is
// made anew after it was lost.
func (s *stream) measureOnce(ctx context.Context, c **link.Conn) (err error) {
	if *c == nil {
		if *c, err = link.Dial(ctx, s.from); err != nil {
			return err
		}
	}
	err = s.hasAllOf(ctx, *c)
	if (*c).Broken() != nil {
		_ = (*c).Close()
		*c = nil
	}
	return err
}
