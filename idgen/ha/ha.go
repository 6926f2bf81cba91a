// Package ha takes numbers from 2ⁿ generators in turn: value = inner << n | index.
//
// It owns the turn, and which generators are set aside: one that fails, or is
// slow several times within a while, is tried again later; one that is out of
// numbers never. It never makes a number itself: the low bits keep those of its
// generators apart, so these may even repeat one another's.
package ha

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"locus/idgen"
	"locus/idgen/orderid"
)

// Options are the settings of a Generator. Fields left zero get the value that
// their comment names.
type Options struct {
	Slow     time.Duration // a call that takes longer counts as slow (100 ms)
	SlowCall int           // slow calls within Within set a generator aside (3)
	Within   time.Duration // (10 s)
	Aside    time.Duration // until it is tried again (5 s)
	Now      func() time.Time
}

// Generator is safe for concurrent use.
type Generator struct {
	inner   []idgen.Numbers
	shift   uint
	options Options

	mu    sync.Mutex // guards what follows; never held across a call
	turn  int
	state []state
}

type state struct {
	until    time.Time // set aside until then
	finished bool      // out of numbers, for good
	slow     []time.Time
}

var _ idgen.Numbers = (*Generator)(nil)

// New is a generator over 1, 2, 4 … 1,024 others. Their order is part of the
// numbers: it must be the same everywhere and for ever.
func New(o Options, inner ...idgen.Numbers) (*Generator, error) {
	n := len(inner)
	if n < 1 || n > 1024 || n&(n-1) != 0 {
		return nil, fmt.Errorf("ha: %d generators: their number is a power of two, 1 to 1024, since the index is the low bits", n)
	}
	o.Slow = cmp.Or(o.Slow, 100*time.Millisecond)
	o.SlowCall = cmp.Or(o.SlowCall, 3)
	o.Within = cmp.Or(o.Within, 10*time.Second)
	o.Aside = cmp.Or(o.Aside, 5*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Generator{inner: inner, shift: uint(bits.TrailingZeros(uint(n))), options: o, state: make([]state, n)}, nil
}

// Fill implements idgen.Numbers. It asks each generator at most once.
func (g *Generator) Fill(ctx context.Context, into []uint64) error {
	var errs []error
	tried := make([]bool, len(g.inner))
	for {
		i := g.next(tried)
		if i < 0 {
			break
		}
		tried[i] = true
		began := g.options.Now()
		err := g.inner[i].Fill(ctx, into)
		if err == nil {
			err = g.shifted(into, uint64(i))
		}
		g.ended(i, g.options.Now().Sub(began), err)
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("generator %d: %w", i, err))
		if ctx.Err() != nil {
			break
		}
	}
	if len(errs) == 0 {
		return fmt.Errorf("ha: all generators are set aside: %w", g.why())
	}
	return fmt.Errorf("ha: %w", errors.Join(errs...))
}

// ErrAside says that every generator failed lately and is not asked now.
var ErrAside = errors.New("they failed or were slow, and are tried again later")

func (g *Generator) why() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.state {
		if !s.finished {
			return ErrAside
		}
	}
	return idgen.ErrOutOfRange
}

// next is whose turn it is of those that are not set aside and not tried yet: -1
// if none.
func (g *Generator) next(tried []bool) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.options.Now()
	for range g.inner {
		i := g.turn
		g.turn = (g.turn + 1) % len(g.inner)
		s := &g.state[i]
		left := s.until.Sub(now)
		if !tried[i] && !s.finished && (left <= 0 || left > g.options.Aside) { // a clock set back makes no wait longer
			return i
		}
	}
	return -1
}

func (g *Generator) shifted(into []uint64, index uint64) error {
	for i, n := range into {
		if n >= 1<<(63-g.shift) {
			return fmt.Errorf("number %d: %w", n, idgen.ErrOutOfRange)
		}
		into[i] = n<<g.shift | index
	}
	return nil
}

func (g *Generator) ended(i int, took time.Duration, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, now := &g.state[i], g.options.Now()
	switch {
	case errors.Is(err, idgen.ErrOutOfRange) || errors.Is(err, orderid.ErrSequenceExhausted):
		s.finished = true
	case err != nil:
		s.until = now.Add(g.options.Aside)
	case took > g.options.Slow:
		s.slow = append(s.slow, now)
		for len(s.slow) > 0 && now.Sub(s.slow[0]) > g.options.Within {
			s.slow = s.slow[1:]
		}
		if len(s.slow) >= g.options.SlowCall {
			s.until, s.slow = now.Add(g.options.Aside), nil
		}
	}
}
