package ha

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"locus/idgen"
)

// Generator is safe for concurrent use; the owner calls Close.
type Generator struct {
	members []idgen.Numbers
	shift   uint
	options Options
	began   time.Time

	ctx     context.Context // of probes
	cancel  context.CancelFunc
	probing sync.WaitGroup

	mu    sync.Mutex // guards what follows; never held across a call
	turn  int
	known []member
}

var _ idgen.Numbers = (*Generator)(nil)

// New is a generator over 1, 2, 4 … 1,024 others. Their order is part of the numbers: it must be the same everywhere
// and for ever.
func New(o Options, members ...idgen.Numbers) (*Generator, error) {
	n := len(members)
	if n < 1 || n > 1024 || n&(n-1) != 0 {
		return nil, fmt.Errorf("ha: %d generators: their number is a power of two, 1 to 1024, since the index is the low bits", n)
	}
	g := &Generator{
		members: members, shift: uint(bits.TrailingZeros(uint(n))), options: o.withDefaults(), began: time.Now(), known: make([]member, n),
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g, nil
}

// Fill implements idgen.Numbers. It asks each member at most once, and every one that has numbers left before it fails.
func (g *Generator) Fill(ctx context.Context, into []uint64) error {
	var errs []error
	var asked []bool // nil until the first one has failed
	for {
		i, last := g.next(asked)
		if i < 0 {
			break
		}
		err := g.ask(ctx, i, last, into)
		if err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("generator %d: %w", i, err))
		if ctx.Err() != nil {
			break
		}
		if asked == nil {
			asked = make([]bool, len(g.members))
		}
		asked[i] = true
	}
	if len(errs) == 0 {
		return fmt.Errorf("ha: every generator has given all its numbers: %w", idgen.ErrOutOfRange)
	}
	return fmt.Errorf("ha: %w", errors.Join(errs...))
}

// ask takes numbers of one member. While others are left to ask it has no longer than Timeout.
func (g *Generator) ask(ctx context.Context, i int, last bool, into []uint64) error {
	within := ctx
	if !last {
		limited := &limit{Context: ctx, deadline: time.Now().Add(g.options.Timeout)}
		defer limited.release()
		within = limited
	}
	began := g.now()
	err := g.members[i].Fill(within, into)
	if err == nil {
		err = g.shifted(into, uint64(i))
	}
	if err != nil && ctx.Err() != nil { // the caller's end, which says nothing of the member
		g.gaveUp(i)
		return err
	}
	g.ended(i, g.now()-began, err)
	return err
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

// now is the time since the generator was made.
func (g *Generator) now() time.Duration { return time.Since(g.began) }

// Close ends the probes and waits for them. Members are their owners'.
func (g *Generator) Close() {
	g.mu.Lock()
	g.cancel() // under mu: no probe begins after
	g.mu.Unlock()
	g.probing.Wait()
}
