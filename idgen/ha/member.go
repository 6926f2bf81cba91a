package ha

import (
	"errors"
	"fmt"
	"time"

	"locus/idgen"
	"locus/idgen/orderid"
)

// State is the state of a member. Members with higher states are asked later.
type State int

const (
	// Well members are asked in turn.
	Well State = iota
	// Slow members are asked in turn if no member is healthy.
	Slow
	// Aside members failed when last asked. They are asked if no other member has answered.
	Aside
	// Finished members have no numbers left.
	Finished
)

// States lists all states.
var States = []State{Well, Slow, Aside, Finished}

// String returns the state as named in metrics and pages.
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

// Member is the state of one of the generators.
type Member struct {
	Index int
	State State
	Err   error // error of its last call, or nil
}

// Members returns all members in order.
func (g *Generator) Members() []Member {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]Member, len(g.known))
	for i := range g.known {
		all[i] = Member{i, g.known[i].state, g.known[i].err}
	}
	return all
}

// member is the state of a member. Its times are since the generator was made.
type member struct {
	state   State
	err     error
	slow    []time.Duration // end times of its slow calls within Options.Within
	calls   int             // calls in progress
	since   time.Duration   // time of its last answer, or of a call while no other was in progress
	probe   time.Duration   // earliest time of the next probe
	probing bool

	lateProbes int // probes that timed out since its last answer; each doubles the time of the next one
}

// stuck reports whether calls are in progress and none has ended for longer than slow. A new caller should then ask
// another member.
func (m *member) stuck(now, slow time.Duration) bool { return m.calls > 0 && now-m.since > slow }

// next returns the index of the next member that was not asked yet, or -1, and how many were not, with this one. It prefers the
// best state and rotates among equals. It counts the call as begun.
func (g *Generator) next(asked []bool) (index, left int) {
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
		if state == Well { // the usual case, in which the others aren't examined
			g.begins(m, now)
			return i, g.left(asked)
		}
		if best < 0 || state < rank {
			best, rank = i, state
		}
	}
	if best < 0 {
		return -1, 0
	}
	g.turn = (best + 1) % len(g.members)
	g.begins(&g.known[best], now)
	return best, rest
}

// left returns how many members were not asked yet and are not finished.
func (g *Generator) left(asked []bool) int {
	if asked == nil {
		return len(g.members) - g.finished
	}
	n := 0
	for i, done := range asked {
		if !done && g.known[i].state != Finished {
			n++
		}
	}
	return n
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

// gaveUp counts the end of a call whose caller ended.
func (g *Generator) gaveUp(i int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known[i].calls--
}

// ended records the result of a call.
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

// judge updates a member's state after a call.
func (g *Generator) judge(i int, now, took time.Duration, err error) {
	m := &g.known[i]
	before := m.state
	switch m.err = err; {
	case before == Finished:
		return
	case errors.Is(err, idgen.ErrOutOfRange) || errors.Is(err, orderid.ErrSequenceExhausted):
		m.state = Finished
		g.finished++
	case err != nil:
		m.state, m.probe, m.slow = Aside, now+g.options.Aside, nil
	case took > g.options.Slow:
		g.strike(m, now)
	case before == Aside: // it answered in time
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
