package migrate

import (
	"context"
	"sync"
	"time"

	"locus/migrate/link"
)

// gaugeEvery is the interval between two measurements of a stream's lag.
const gaugeEvery = 200 * time.Millisecond

// gauge measures a stream's lag: the time until everything that the server has logged so far is applied. The
// timestamps in the log would be less accurate: MariaDB's have a resolution of one second, and two servers'
// clocks differ.
type gauge struct {
	mu    sync.Mutex
	took  time.Duration // the last measured lag
	asked time.Time     // start of the current measurement; zero if there is none
}

// lag returns a lower bound of the stream's current lag.
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
	if g.asked.IsZero() { // an unfinished measurement continues
		g.asked = now
	}
}

func (g *gauge) end(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.took, g.asked = now.Sub(g.asked), time.Time{}
}

// measure repeats measurements until ctx ends.
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

// measureOnce waits until everything logged so far is applied. It opens a new connection if the old one was
// lost.
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
