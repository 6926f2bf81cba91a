package ha

import (
	"errors"
	"fmt"
	"time"

	"locus/idgen"
	"locus/idgen/orderid"
)

// State is what is known of a member. A higher one is asked later.
type State int

const (
	// Well members are asked in turn.
	Well State = iota
	// Slow ones are asked in turn if none is well.
	Slow
	// Aside ones failed when they were asked last. They are asked if nobody else has answered.
	Aside
	// Finished ones are out of numbers, for good.
	Finished
)

// States are all of them.
var States = []State{Well, Slow, Aside, Finished}

// String is the state as metrics and pages name it.
func (s State) String() string {
	switch s {
	case Well:
		return "well"
	case Slow:
		return "slow"
	case Aside:
		return "aside"
	case Finished:
		return "finished"
	}
	return fmt.Sprintf("state %d", int(s))
}

// Member is how one of the generators stands.
type Member struct {
	Index int
	State State
	Err   error // of its last call, if that failed
}

// Members are all, in their order.
func (g *Generator) Members() []Member {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]Member, len(g.known))
	for i := range g.known {
		all[i] = Member{i, g.known[i].state, g.known[i].err}
	}
	return all
}

// member is what is known of one. Its times are since the generator was made.
type member struct {
	state   State
	err     error
	slow    []time.Duration // when its slow calls ended, within Options.Within
	calls   int             // under way
	since   time.Duration   // when it answered last, or was called while no call was under way
	probe   time.Duration   // not before
	probing bool

	lateProbes int // that were given up since one has answered: the next one has twice as long for each
}

// stuck tells whether calls are under way and none has ended for longer than one may take: whoever comes now had better
// ask another one.
func (m *member) stuck(now, slow time.Duration) bool { return m.calls > 0 && now-m.since > slow }

// next is whose turn it is of those that were not asked yet, -1 if there is none, and whether it is the last one. The best
// state that there is decides; among equals it goes by turns. It counts the call as begun.
func (g *Generator) next(asked []bool) (index int, last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	best, rest := -1, 0
	var rank State
	for range g.members {
		i := g.turn
		g.turn = (g.turn + 1) % len(g.members)
		m := &g.known[i]
		if m.state == Finished || asked != nil && asked[i] {
			continue
		}
		rest++
		g.probeIfDue(i, now)
		state := m.state
		if state == Well && m.stuck(now, g.options.Slow) {
			state = Slow
		}
		if state == Well { // the usual case: the others are not even looked at
			g.begins(m, now)
			return i, len(g.members) == 1
		}
		if best < 0 || state < rank {
			best, rank = i, state
		}
	}
	if best < 0 {
		return -1, true
	}
	g.turn = (best + 1) % len(g.members)
	g.begins(&g.known[best], now)
	return best, rest == 1
}

// nextAgain counts another call of a member as begun.
func (g *Generator) nextAgain(i int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.begins(&g.known[i], g.now())
}

func (g *Generator) begins(m *member, now time.Duration) {
	if m.calls == 0 {
		m.since = now
	}
	m.calls++
}

// gaveUp counts a call as ended that its caller has ended.
func (g *Generator) gaveUp(i int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known[i].calls--
}

// ended notes how a call went.
func (g *Generator) ended(i int, took time.Duration, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m, now := &g.known[i], g.now()
	m.calls--
	g.judge(i, now, took, err)
	if err == nil {
		m.since = now
	}
}

// judge finds a member's state by how one call went.
func (g *Generator) judge(i int, now, took time.Duration, err error) {
	m := &g.known[i]
	before := m.state
	switch m.err = err; {
	case before == Finished:
		return
	case errors.Is(err, idgen.ErrOutOfRange) || errors.Is(err, orderid.ErrSequenceExhausted):
		m.state = Finished
	case err != nil:
		m.state, m.probe, m.slow = Aside, now+g.options.Aside, nil
	case took > g.options.Slow:
		g.strike(m, now)
	case before == Aside: // it has answered, and in time
		m.state, m.slow = Well, nil
	}
	if m.state != before {
		g.options.Changed(Member{i, m.state, m.err})
	}
}

// strike counts a slow call.
func (g *Generator) strike(m *member, now time.Duration) {
	m.slow = append(m.slow, now)
	for now-m.slow[0] > g.options.Within {
		m.slow = m.slow[1:]
	}
	if len(m.slow) >= g.options.Strikes || m.state == Aside {
		m.state, m.probe, m.slow = Slow, now+g.options.Aside, nil
	}
}
