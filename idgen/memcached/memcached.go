// Package memcached takes numbers by INCR from one memcached or from several,
// which keep nothing: every boot of a server, and every eviction, begins a fresh
// block that a durable store has granted.
//
// It owns the items' names, the turn from one block to the next, and which server
// is asked. It never puts a block into memcached twice, and never counts past its
// end.
package memcached

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locus/idgen"
	"locus/idgen/breaker"
	"locus/idgen/segment"
)

// Options are the settings of a Generator. Fields left zero get the value that
// their comment names.
type Options struct {
	Prefix  string        // of the items' names ("locus:ids:")
	Block   uint64        // numbers that are asked of the durable store (100,000)
	Timeout time.Duration // of one command (200 ms)
	Breaker breaker.Options
}

const defaultTimeout = 200 * time.Millisecond

// Generator is safe for concurrent use; the owner calls Close.
//
// Each server counts in a block of its own, all of which one durable store has
// granted: so servers need not know of each other, and which they are may be
// changed. One that is away is passed over.
type Generator struct {
	tag    string
	block  uint64
	store  *segment.Rising // of all: a server remembers only what it was given
	places []*place
	turn   atomic.Uint32
}

var _ idgen.Numbers = (*Generator)(nil)

// New is a generator of a tag over the memcacheds at one address or more.
func New(addresses []string, durable segment.Store, tag string, o Options) *Generator {
	o = o.withDefaults()
	g := &Generator{tag: tag, block: o.Block, store: segment.NewRising(durable)}
	for _, address := range addresses {
		g.places = append(g.places, newPlace(address, g.store, tag, o))
	}
	g.turn.Store(uint32(time.Now().UnixNano())) // processes begin at different ones
	return g
}

// Fill implements idgen.Numbers. A run is at most a quarter of a block: one as long
// as a block would need a fresh one of which nobody else has taken anything yet.
func (g *Generator) Fill(ctx context.Context, into []uint64) error {
	return idgen.Run{Take: g.take, Most: int(max(1, g.block/4))}.Fill(ctx, into)
}

// take asks the servers in turn: those that failed lately only if nobody else has
// numbers. A caller is not told of an answer that was lost while there is another
// server to ask: those numbers are lost, and no more.
func (g *Generator) take(ctx context.Context, n int) (uint64, error) {
	begin := int(g.turn.Add(1) % uint32(len(g.places)))
	var paused []*place
	var errs []error
	for i := range g.places {
		p := g.places[(begin+i)%len(g.places)]
		if !g.allow(p) {
			paused = append(paused, p)
			continue
		}
		first, err := g.from(ctx, p, n)
		if err == nil || final(ctx, err) {
			return first, err
		}
		errs = append(errs, err)
	}
	for _, p := range paused {
		first, err := g.from(ctx, p, n)
		if err == nil || final(ctx, err) {
			return first, err
		}
		errs = append(errs, err)
	}
	return 0, errors.Join(errs...)
}

// final reports whether another server would not help.
func final(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, segment.ErrWentBack)
}

// from takes numbers of one server.
func (g *Generator) from(ctx context.Context, p *place, n int) (uint64, error) {
	first, err := p.take(ctx, n)
	if p.dropIdle(err) {
		first, err = p.take(ctx, n)
	}
	p.breaker.Done(away(err))
	if err != nil {
		return 0, fmt.Errorf("memcached %s at %s: %w", g.tag, p.address, err)
	}
	g.store.Saw(g.tag, first+uint64(n)-1)
	return first, nil
}

// allow asks the breaker of a server if there are others to go to.
func (g *Generator) allow(p *place) bool { return len(g.places) == 1 || p.breaker.Allow() }

// Breakers are the states of the breakers before the servers.
func (g *Generator) Breakers() []breaker.State {
	var states []breaker.State
	for _, p := range g.places {
		states = append(states, p.breaker.State())
	}
	return states
}

// Close closes the connections.
func (g *Generator) Close() error {
	var errs []error
	for _, p := range g.places {
		errs = append(errs, p.client.Close())
	}
	return errors.Join(errs...)
}
