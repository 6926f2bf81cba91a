package fence

import (
	"sync/atomic"
	"time"

	"locus/idgen/gene"
	"locus/router"
)

// Config is what the sessions of a process share.
type Config struct {
	// Changed is closed when another map may be in force than the one that was when it was asked for.
	Changed func() <-chan struct{}
	// Leased is the number of the lease by which this process is known to the others to be alive: 0 if it isn't, for then it
	// may be passed over by a hand-over. Of a lease that was lost the number never comes back; and the map in force is none from
	// before the lease.
	Leased func() int64
	// Hold is how long a statement is held at most.
	Hold time.Duration
	// Places is one for each statement that is held.
	Places chan struct{}
}

// Gate is a session's. Its methods are the session's own, but for Obeys and Preempt, which are for any goroutine.
type Gate struct {
	config  *Config
	current func() *router.Map // the map in force
	obeyed  obeyed

	preempting atomic.Pointer[preemption]
	told       bool // the command under way was answered with why its transaction is rolled back
	untold     bool // the transaction was preempted, and the client doesn't know yet
}

// New makes the gate of a session. Nothing is under way.
func New(config *Config, current func() *router.Map) *Gate {
	return &Gate{config: config, current: current}
}

// Enter notes that a statement begins by a map; open: a transaction goes on, which may have begun by an older one. It tells
// whether the map is still in force: whoever replaced it meanwhile may have looked at this session before it said anything. If
// it isn't, the session enters by the new one.
func (g *Gate) Enter(m *router.Map, open bool) bool {
	g.obeyed.begin(m.Version(), open)
	if !m.Moving().Empty() {
		g.obeyed.undecide()
	}
	return g.current() == m
}

// Rest is the end of a command.
func (g *Gate) Rest(open bool) {
	g.told = false
	if !open {
		g.obeyed.nothing()
		return
	}
	g.obeyed.settle()
}

// Step says that nothing goes on by the map that holds a statement, but for its transaction.
func (g *Gate) Step(open bool) {
	if !open {
		g.obeyed.nothing()
		return
	}
	g.obeyed.decide(nil, false)
}

// Admission is how a statement was let on. Statements that are run as parts of it have the same. The zero value is of one on
// genes that don't move.
type Admission struct {
	Moving bool  // it concerns genes that are moving
	lease  int64 // then, the one by which it was admitted
}

// Admit lets a statement go on that concerns these genes, or with all set every one, unless a step of a move holds some of them:
// then the error is a [HeldError]. A transaction that was under way on held genes before the fence may go on to its end: the
// fence waits for it.
func (g *Gate) Admit(m *router.Map, genes []gene.Gene, all, open bool) (a Admission, err error) {
	moving := m.Moving()
	if moving.Empty() {
		return a, nil
	}
	if a.Moving = meets(moving, genes, all); a.Moving {
		if a.lease = g.config.Leased(); a.lease == 0 {
			return a, errUnleased
		}
		if g.current() != m { // it may be from before the lease
			return a, errOutdated
		}
	}
	if held := m.Held(); meets(held, genes, all && m.HoldsGenes()) && !(open && g.obeyed.precedes(m.Version(), held)) {
		return a, errHeld
	}
	g.obeyed.decide(genes, all)
	return a, nil
}

// ConcernsNone says that a statement that has begun concerns no sharded rows.
func (g *Gate) ConcernsNone(m *router.Map) {
	if !m.Moving().Empty() {
		g.obeyed.decide(nil, false)
	}
}

// StillLeased is asked when a connection is there: time may have passed since the statement was admitted, and the connection may
// have been made after this proxy was passed over. That it has another lease now is not enough: the statement is by a map from
// before.
func (g *Gate) StillLeased(a Admission) error {
	if a.Moving && g.config.Leased() != a.lease {
		return errUnleased
	}
	return nil
}

func meets(set gene.Set, genes []gene.Gene, all bool) bool {
	if set.Empty() {
		return false
	}
	for _, g := range genes {
		all = all || set.Contains(g)
	}
	return all
}
