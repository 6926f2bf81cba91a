package memcached

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"github.com/bradfitz/gomemcache/memcache"

	"locus/idgen/breaker"
	"locus/idgen/segment"
)

// place is one server and its current block.
//
// The item of the tag names the block in use, as first-last. An item with that name counts within the block. The
// process that a block was granted to adds its item once. When the item is gone, by a restart or an eviction, the block
// is over and its rest is lost.
type place struct {
	address string
	client  *memcache.Client
	durable segment.Store
	tag     string
	options Options
	breaker *breaker.Breaker

	asking sync.WaitGroup // commands in progress

	mu    sync.Mutex // guards block; not held across a call
	block segment.Grant
	renew chan struct{} // holds one token; its holder searches for the next block
}

func newPlace(address string, durable segment.Store, tag string, o Options) *place {
	client := memcache.New(address)
	client.Timeout = o.Timeout
	client.MaxIdleConns = 64
	client.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{Timeout: o.Timeout}).DialContext(ctx, network, address)
	}
	p := &place{address: address, client: client, durable: durable, tag: tag, options: o, breaker: breaker.New(o.Breaker), renew: make(chan struct{}, 1)}
	p.renew <- struct{}{}
	return p
}

// unanswered is an error of the server rather than of the durable store.
type unanswered struct{ error }

func (e unanswered) Unwrap() error { return e.error }

// ask runs a command of the client library, which doesn't support contexts, and returns when ctx ends. The command then ends
// by the client's time limit, and its result is discarded.
func ask[T any](ctx context.Context, p *place, do func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	p.asking.Go(func() {
		value, err := do()
		answered <- answer{value, err}
	})
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// written runs a command that returns no value.
func (p *place) written(ctx context.Context, do func() error) error {
	_, err := ask(ctx, p, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// attempts bounds how often a block may be used up by others.
const attempts = 20

func (p *place) take(ctx context.Context, n int) (uint64, error) {
	for range attempts {
		block := p.current()
		if block.First != 0 {
			first, ok, err := p.within(ctx, block, uint64(n))
			if err != nil || ok {
				return first, err
			}
		}
		if err := p.next(ctx, block); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("%d blocks were used up by others or lost: try again", attempts)
}

func (p *place) current() segment.Grant {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.block
}

// within counts within a block. It returns false if the block is over. Without an answer numbers may have been taken,
// and are lost.
func (p *place) within(ctx context.Context, block segment.Grant, n uint64) (first uint64, ok bool, err error) {
	last, err := ask(ctx, p, func() (uint64, error) { return p.client.Increment(p.item(block), n) })
	if errors.Is(err, memcache.ErrCacheMiss) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("%w: these numbers may be lost", unanswered{err})
	}
	return last - n + 1, last >= block.First+n-1 && last <= block.Last, nil
}

// next finds the block after one that is over: another process's, or a new one.
func (p *place) next(ctx context.Context, over segment.Grant) error {
	select {
	case <-p.renew:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { p.renew <- struct{}{} }()
	if p.current() != over {
		return nil
	}
	block, err := p.announced(ctx)
	if err != nil {
		return err
	}
	if block == over || block.First <= over.First {
		if block, err = p.begin(ctx); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.block = block
	return nil
}

// announced returns the block that the server names, or the zero Grant.
func (p *place) announced(ctx context.Context) (segment.Grant, error) {
	item, err := ask(ctx, p, func() (*memcache.Item, error) { return p.client.Get(p.options.Prefix + p.tag) })
	if errors.Is(err, memcache.ErrCacheMiss) {
		return segment.Grant{}, nil
	}
	if err != nil {
		return segment.Grant{}, fmt.Errorf("read the block in use: %w", unanswered{err})
	}
	var block segment.Grant
	if _, err := fmt.Sscanf(string(item.Value), "%d-%d", &block.First, &block.Last); err != nil || block.First == 0 || block.Last < block.First {
		return segment.Grant{}, nil // an invalid value is no block, and a new one is begun
	}
	return block, nil
}

// away returns err if the server caused it, or nil.
func away(err error) error {
	if errors.As(err, new(unanswered)) {
		return err
	}
	return nil
}

// dropIdle closes idle connections if an error shows that the server they belong to has ended. It reports whether it
// did.
func (p *place) dropIdle(ctx context.Context, err error) bool {
	var network net.Error
	if away(err) == nil || ctx.Err() != nil || errors.As(err, &network) && network.Timeout() {
		return false
	}
	_ = p.client.Close() // the connections are closed even if Close returns an error
	return true
}

// begin puts a new block in. It adds the block's item before it announces the block. So a process that reads the name
// finds the item, or the block is over.
func (p *place) begin(ctx context.Context) (segment.Grant, error) {
	block, err := p.durable.Extend(ctx, p.tag, p.options.Block)
	if err != nil {
		return segment.Grant{}, err
	}
	if err := block.Check(p.options.Block, 0); err != nil {
		return segment.Grant{}, err
	}
	counter := &memcache.Item{Key: p.item(block), Value: strconv.AppendUint(nil, block.First-1, 10)}
	err = p.written(ctx, func() error { return p.client.Add(counter) })
	if err != nil {
		return segment.Grant{}, fmt.Errorf("begin block %d-%d: %w: its numbers are lost", block.First, block.Last, unanswered{err})
	}
	name := &memcache.Item{Key: p.options.Prefix + p.tag, Value: fmt.Appendf(nil, "%d-%d", block.First, block.Last)}
	err = p.written(ctx, func() error { return p.client.Set(name) })
	if err != nil {
		return segment.Grant{}, fmt.Errorf("announce block %d-%d: %w: its numbers are lost", block.First, block.Last, unanswered{err})
	}
	return block, nil
}

func (p *place) item(block segment.Grant) string {
	return fmt.Sprintf("%s%s:%d-%d", p.options.Prefix, p.tag, block.First, block.Last)
}

func (o Options) withDefaults() Options {
	o.Prefix = cmp.Or(o.Prefix, "locus:ids:")
	o.Block = cmp.Or(o.Block, 100_000)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	return o
}
