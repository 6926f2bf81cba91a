// Package memcached takes numbers by INCR from a memcached, which keeps nothing:
// every boot of the server, and every eviction, begins a fresh block that a
// durable store has granted.
//
// It owns the items' names and the turn from one block to the next. It never
// puts a block into memcached twice, and never counts past its end.
package memcached

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"locus/idgen"
	"locus/idgen/segment"
)

// Options are the settings of a Generator. Fields left zero get the value that
// their comment names.
type Options struct {
	Prefix  string        // of the items' names ("locus:ids:")
	Block   uint64        // numbers that are asked of the durable store (100,000)
	Timeout time.Duration // of one command (200 ms)
}

// Generator is safe for concurrent use; the owner calls Close.
//
// The item of the tag names the block in use, as first-last; an item of that
// name counts within it. A block's item is added once, by whom the block was
// granted to. When it is gone, by a restart or an eviction, the block is over:
// what is left of it is lost.
type Generator struct {
	client  *memcache.Client
	durable segment.Store
	tag     string
	options Options

	mu    sync.Mutex // guards block; not held across a call
	block segment.Grant
	renew chan struct{} // holds one token: who took it looks for the next block
}

var _ idgen.Numbers = (*Generator)(nil)

// New is a generator of a tag over the memcached at an address.
func New(address string, durable segment.Store, tag string, o Options) *Generator {
	o.Prefix = cmp.Or(o.Prefix, "locus:ids:")
	o.Block = cmp.Or(o.Block, 100_000)
	o.Timeout = cmp.Or(o.Timeout, 200*time.Millisecond)
	client := memcache.New(address)
	client.Timeout = o.Timeout
	client.MaxIdleConns = 64
	client.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{Timeout: o.Timeout}).DialContext(ctx, network, address)
	}
	g := &Generator{client: client, durable: durable, tag: tag, options: o, renew: make(chan struct{}, 1)}
	g.renew <- struct{}{}
	return g
}

// Fill implements idgen.Numbers: the numbers of a call are consecutive.
func (g *Generator) Fill(ctx context.Context, into []uint64) error {
	return idgen.Run{Take: g.take}.Fill(ctx, into)
}

// attempts bounds how often a block is found used up by others.
const attempts = 20

func (g *Generator) take(ctx context.Context, n int) (uint64, error) {
	if uint64(n) > g.options.Block {
		return 0, fmt.Errorf("memcached %s: %d numbers at a time: a block has %d", g.tag, n, g.options.Block)
	}
	for range attempts {
		block := g.current()
		if block.First != 0 {
			first, ok, err := g.within(block, uint64(n))
			if err != nil || ok {
				return first, err
			}
		}
		if err := g.next(ctx, block); err != nil {
			return 0, fmt.Errorf("memcached %s: %w", g.tag, err)
		}
	}
	return 0, fmt.Errorf("memcached %s: %d blocks were used up by others or lost: try again", g.tag, attempts)
}

func (g *Generator) current() segment.Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.block
}

// within counts within a block: not ok if it is over. Without an answer numbers
// may be taken: they are lost.
func (g *Generator) within(block segment.Grant, n uint64) (first uint64, ok bool, err error) {
	last, err := g.client.Increment(g.item(block), n)
	if errors.Is(err, memcache.ErrCacheMiss) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("memcached %s: %w: these numbers may be lost", g.tag, err)
	}
	return last - n + 1, last >= block.First+n-1 && last <= block.Last, nil
}

// next finds the block after one that is over: another process's, or a new one.
func (g *Generator) next(ctx context.Context, over segment.Grant) error {
	select {
	case <-g.renew:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { g.renew <- struct{}{} }()
	if g.current() != over {
		return nil
	}
	block, err := g.announced()
	if err != nil {
		return err
	}
	if block == over || block.First <= over.First {
		if block, err = g.begin(ctx); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.block = block
	return nil
}

// announced is the block that the server names: zero if none.
func (g *Generator) announced() (segment.Grant, error) {
	item, err := g.client.Get(g.options.Prefix + g.tag)
	if errors.Is(err, memcache.ErrCacheMiss) {
		return segment.Grant{}, nil
	}
	if err != nil {
		return segment.Grant{}, fmt.Errorf("read the block in use: %w", err)
	}
	var block segment.Grant
	if _, err := fmt.Sscanf(string(item.Value), "%d-%d", &block.First, &block.Last); err != nil || block.First == 0 || block.Last < block.First {
		return segment.Grant{}, nil // nonsense is no block: a new one is begun
	}
	return block, nil
}

// begin puts a new block in. Its item is added before it is announced, so who
// reads its name finds it, or it is over.
func (g *Generator) begin(ctx context.Context) (segment.Grant, error) {
	block, err := g.durable.Extend(ctx, g.tag, g.options.Block)
	if err != nil {
		return segment.Grant{}, err
	}
	if err := block.Check(g.options.Block, 0); err != nil {
		return segment.Grant{}, err
	}
	err = g.client.Add(&memcache.Item{Key: g.item(block), Value: strconv.AppendUint(nil, block.First-1, 10)})
	if err != nil {
		return segment.Grant{}, fmt.Errorf("begin block %d-%d: %w: its numbers are lost", block.First, block.Last, err)
	}
	err = g.client.Set(&memcache.Item{Key: g.options.Prefix + g.tag, Value: fmt.Appendf(nil, "%d-%d", block.First, block.Last)})
	if err != nil {
		return segment.Grant{}, fmt.Errorf("announce block %d-%d: %w: its numbers are lost", block.First, block.Last, err)
	}
	return block, nil
}

func (g *Generator) item(block segment.Grant) string {
	return fmt.Sprintf("%s%s:%d-%d", g.options.Prefix, g.tag, block.First, block.Last)
}

// Close closes the connections.
func (g *Generator) Close() error { return g.client.Close() }
