package backend

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Retire ends lending without waiting. Queued borrowers get ErrClosed. Idle connections are closed at once, borrowed ones
// when they come back.
func (p *Pool) Retire() {
	p.each((*Pool).retire)
}

func (p *Pool) retire() {
	p.mu.Lock()
	defer p.unlock()
	p.closed = true
	p.doomIdle(func(*Conn) bool { return true })
	if p.prober != nil {
		p.doomed = append(p.doomed, p.prober)
		p.prober = nil
	}
	p.serve(time.Now())
	for _, timer := range []*time.Timer{p.waker, p.expiry} {
		if timer != nil {
			timer.Stop()
		}
	}
	p.settle()
}

// Close retires the pool and waits until the borrowed connections have come back. If ctx ends first, Close interrupts them
// and returns an error with their number. They are still closed when they come back.
func (p *Pool) Close(ctx context.Context) error {
	p.Retire()
	var errs []error
	p.each(func(p *Pool) { errs = append(errs, p.drain(ctx)) })
	return errors.Join(errs...)
}

// drain is Close for a pool that is retired, without its pool of the last known primary.
func (p *Pool) drain(ctx context.Context) error {
	select {
	case <-p.empty:
		return nil
	case <-ctx.Done():
	}
	n := p.interruptAll()
	p.cleaning.Wait()
	if n > 0 {
		return fmt.Errorf("shard %s: close pool: %d connections were still in use and were cut off: %w", p.shard, n, context.Cause(ctx))
	}
	return nil
}

// interruptAll holds mu, because a connection may be interrupted only while it is lent or cleaned. It doesn't block. It
// returns the number of connections that borrowers hold or wait for.
func (p *Pool) interruptAll() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.dialing
	for c := range p.all {
		c.Interrupt()
		if c.lent && !c.cleaned {
			n++
		}
	}
	return n
}

// settle ends Close's wait once nothing is left.
func (p *Pool) settle() {
	if !p.closed || p.places() > 0 {
		return
	}
	select {
	case <-p.empty:
	default:
		close(p.empty)
	}
}

func (p *Pool) closedError() error { return fmt.Errorf("shard %s: %w", p.shard, ErrClosed) }

func (p *Pool) drained() bool {
	all := true
	p.each(func(p *Pool) { all = all && p.isEmpty() })
	return all
}

func (p *Pool) isEmpty() bool {
	select {
	case <-p.empty:
		return true
	default:
		return false
	}
}
