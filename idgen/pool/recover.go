package pool

import (
	"context"
	"time"
)

// recheck is the first pause between two checks of a Redis that did not answer. Each is twice as long as the one before, up to
// slowRecheck.
const (
	recheck     = 250 * time.Millisecond
	slowRecheck = 2 * time.Second
)

// recoverLater makes the pool of a counter be filled as soon as Redis answers again. Meanwhile this process takes numbers from
// the durable store, which are higher than those in Redis. Its next runs must be higher still, so the pool is of no use to it
// until it has been filled. The durable store may be unavailable when the next run is needed.
func (p *Pool) recoverLater(name string, size uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counter(name)
	c.behind, c.size = true, max(c.size, size)
	if p.recovering || p.filling.Err() != nil {
		return
	}
	p.recovering = true
	p.fills.Go(p.recover)
}

// recover checks Redis until it has numbers for each counter, or the pool is closed.
func (p *Pool) recover() {
	for pause := recheck; ; {
		name, size, found := p.nextBehind()
		if !found {
			return
		}
		if p.recoverPool(name, size) {
			pause = recheck
			continue
		}
		timer := time.NewTimer(pause)
		pause = min(2*pause, slowRecheck)
		select {
		case <-timer.C:
		case <-p.filling.Done():
			timer.Stop()
		}
	}
}

// nextBehind returns a counter whose pool may have no numbers for this process. If there is none, recover must end.
func (p *Pool) nextBehind() (name string, size uint64, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, c := range p.counters {
		if c.behind && p.filling.Err() == nil {
			c.behind = false
			return name, c.size, true
		}
	}
	p.recovering = false
	return "", 0, false
}

// recoverPool fills the pool of a counter if it has too few numbers above those that this process has had. If it returns
// false, the counter is still behind.
func (p *Pool) recoverPool(name string, size uint64) bool {
	floor := p.floor(name)
	t, err := p.askRedis(p.filling, name, size, func(ctx context.Context) (taken, error) { return p.rest(ctx, name, floor, size) })
	switch {
	case err != nil: // askRedis has noted it
		return false
	case t.left >= size:
		return true
	}
	if t.fill {
		r := &request{size: size, floor: floor}
		r.begin(true)
		if p.run(p.filling, name, r); r.err == nil {
			return true
		}
	}
	p.recoverLater(name, size) // another process fills it, or the durable store has failed
	return false
}
