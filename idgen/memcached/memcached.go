// Package memcached takes numbers by INCR from one or more memcacheds, which persist nothing. After every restart of a
// server, and every eviction, a new block granted by a durable store begins.
//
// It owns the items' names, the change from one block to the next, and the choice of server. It never puts a block into
// memcached twice, and never counts past its end.
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

// Options are the settings of a Generator. Zero fields get the default in parentheses.
type Options struct {
	Prefix  string        // prefix of the items' names ("locus:ids:")
	Block   uint64        // numbers requested from the durable store (100,000)
	Timeout time.Duration // time limit of one command (200 ms)
	Breaker breaker.Options
}

const defaultTimeout = 200 * time.Millisecond

// Generator is safe for concurrent use. The owner calls Close.
//
// Each server counts in its own block, and one durable store has granted all blocks. So servers need not know each
// other and may be changed. Unavailable servers are skipped.
type Generator struct {
	tag    string
	block  uint64
	store  *segment.Rising // covers all servers, since a server remembers only its own numbers
	places []*place
	turn   atomic.Uint32
}

var _ idgen.Numbers = (*Generator)(nil)

// New returns a generator of a tag over the memcacheds at one or more addresses.
func New(addresses []string, durable segment.Store, tag string, o Options) *Generator {
	o = o.withDefaults()
	g := &Generator{tag: tag, block: o.Block, store: segment.NewRising(durable)}
	for _, address := range addresses {
		g.places = append(g.places, newPlace(address, g.store, tag, o))
	}
	g.turn.Store(uint32(time.Now().UnixNano())) // processes begin at different ones
	return g
}

// Fill implements idgen.Numbers. A run is at most a quarter of a block: a longer run would rarely fit into a block from which
// other processes have taken numbers.
func (g *Generator) Fill(ctx context.Context, into []uint64) error {
	return idgen.Run{Take: g.take, Most: int(max(1, g.block/4))}.Fill(ctx, into)
}

// take asks the servers in turn. Those that failed recently are asked only if no other has numbers. If an answer is
// lost and there is another server, the caller gets numbers from that one, and the lost numbers are unused.
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

// from takes numbers from one server.
func (g *Generator) from(ctx context.Context, p *place, n int) (uint64, error) {
	first, err := p.take(ctx, n)
	if p.dropIdle(ctx, err) {
		first, err = p.take(ctx, n)
	}
	p.breaker.Ended(ctx, away(err))
	if err != nil {
		return 0, fmt.Errorf("memcached %s at %s: %w", g.tag, p.address, err)
	}
	g.store.Saw(g.tag, first+uint64(n)-1)
	return first, nil
}

// allow checks a server's breaker if there are other servers.
func (g *Generator) allow(p *place) bool { return len(g.places) == 1 || p.breaker.Allow() }

// Breakers returns the states of the servers' breakers.
func (g *Generator) Breakers() []breaker.State {
	var states []breaker.State
	for _, p := range g.places {
		states = append(states, p.breaker.State())
	}
	return states
}

// Close waits for commands in progress and closes the connections.
func (g *Generator) Close() error {
	var errs []error
	for _, p := range g.places {
		p.asking.Wait()
		errs = append(errs, p.client.Close())
	}
	return errors.Join(errs...)
}
