package ha

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"time"

	"locus/idgen"
)

// Generator is safe for concurrent use. The owner calls Close.
type Generator struct {
	members []idgen.Numbers
	shift   uint
	options Options
	began   time.Time

	ctx     context.Context // context of probes
	cancel  context.CancelFunc
	probing sync.WaitGroup

	mu       sync.Mutex // guards the fields below; never held across a call
	turn     int
	known    []member
	finished int // members in that state
}

var _ idgen.Numbers = (*Generator)(nil)

// New returns a generator over 1, 2, 4 … 1,024 others. Their order is part of the numbers, so it must be the same everywhere and
// for ever.
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

// Fill implements idgen.Numbers. Before it fails it asks every member that has numbers. It asks each once. All but the last one
// share Timeout, so while one answers, a call waits for it no longer than Timeout and that member's own time. Then it asks those
// again that exceeded Timeout, with twice as long each time, and finally those whose servers were not asked. The only remaining
// member has all of the caller's time.
func (g *Generator) Fill(ctx context.Context, into []uint64) error {
	c := call{Generator: g, ctx: ctx, into: into}
	var asked []bool // nil until the first member has failed
	began := g.now()
	for {
		i, left := g.next(asked)
		if i < 0 {
			break
		}
		if done := c.ask(i, g.share(began, left, asked == nil), left == 1); done {
			return c.outcome()
		}
		if asked == nil {
			asked = make([]bool, len(g.members))
		}
		asked[i] = true
	}
	for timeout := 2 * g.options.Timeout; len(c.late) > 0; timeout *= 2 {
		again := c.late
		c.late = nil
		for k, i := range again {
			g.nextAgain(i)
			if done := c.ask(i, timeout, k == len(again)-1); done {
				return c.outcome()
			}
		}
	}
	c.askThoseNotAsked()
	return c.outcome()
}

// share returns the time limit of the next member of a call that began at that time, if that many are left to ask. The limit of the
// last one has an effect only if others were late and are asked again after it. The first one has half of Timeout: if all members need
// the same time, an equal share would be too short for each of many.
func (g *Generator) share(began time.Duration, left int, first bool) time.Duration {
	if left <= 1 {
		return g.options.Timeout
	}
	rest := g.options.Timeout - (g.now() - began)
	if first && left > 2 {
		return rest / 2
	}
	return max(rest/time.Duration(left-1), g.options.Timeout/time.Duration(2*len(g.members)))
}

// notAskedFor is how long a call waits for members whose servers aren't asked for a while, if all others failed. It exceeds the
// pauses of circuit breakers.
const notAskedFor = 5 * time.Second

// askThoseNotAsked asks members whose servers were not asked again, until a server is asked.
func (c *call) askThoseNotAsked() {
	end, before := time.Now().Add(notAskedFor), c.errs
	for pause := 10 * time.Millisecond; len(c.notAsked) > 0 && time.Now().Before(end); pause = min(2*pause, 250*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-c.ctx.Done():
			return
		}
		again := c.notAsked
		c.notAsked, c.errs = nil, slices.Clip(before) // replaced by their new errors
		for _, i := range again {
			c.nextAgain(i)
			if done := c.ask(i, notAskedFor, true); done {
				return
			}
		}
	}
}

// call is the state of one Fill.
type call struct {
	*Generator
	ctx    context.Context
	into   []uint64
	filled bool
	errs   []error
	late   []int // members that exceeded the timeout
	// notAsked are members whose servers were not asked, because they failed recently.
	notAsked []int
}

// ask asks a member, with the timeout if there are others to ask after it. It returns true if no other member needs to be asked.
func (c *call) ask(i int, timeout time.Duration, last bool) (done bool) {
	within, release := c.ctx, func() {}
	if !last || len(c.late) > 0 {
		limited := &limit{Context: c.ctx, deadline: time.Now().Add(timeout)}
		within, release = limited, limited.release
	}
	err := c.askWithin(c.ctx, within, i, c.into)
	if err != nil && c.ctx.Err() == nil && within.Err() != nil {
		c.late = append(c.late, i)
	} else if errors.Is(err, idgen.ErrNotAsked) {
		c.notAsked = append(c.notAsked, i)
	}
	release()
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("generator %d: %w", i, err))
	}
	c.filled = err == nil
	return c.filled || c.ctx.Err() != nil
}

// mostErrors bounds the errors reported by a call. Further errors come from members that were asked again.
const mostErrors = 16

func (c *call) outcome() error {
	switch {
	case c.filled:
		return nil
	case len(c.errs) == 0:
		return fmt.Errorf("ha: every generator has given all its numbers: %w", idgen.ErrOutOfRange)
	}
	return fmt.Errorf("ha: %w", errors.Join(c.errs[:min(len(c.errs), mostErrors)]...))
}

// askWithin asks a member with the time limit of within. ctx is the caller's context.
func (g *Generator) askWithin(ctx, within context.Context, i int, into []uint64) error {
	began := g.now()
	err := g.members[i].Fill(within, into)
	if err == nil {
		err = g.shifted(into, uint64(i))
	}
	if err != nil && ctx.Err() != nil { // the caller's context ended, which reveals nothing about the member
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

// now returns the time since the generator was made.
func (g *Generator) now() time.Duration { return time.Since(g.began) }

// Close ends the probes and waits for them. It doesn't close the members.
func (g *Generator) Close() {
	g.mu.Lock()
	g.cancel() // under mu, so that no probe begins afterwards
	g.mu.Unlock()
	g.probing.Wait()
}
