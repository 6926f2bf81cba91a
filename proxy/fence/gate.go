package fence

import (
	"sync/atomic"
	"time"

	"locus/idgen/gene"
	"locus/router"
)

// Config is shared by the sessions of a process.
type Config struct {
	// Changed returns a channel that is closed when the map in force may have changed since the call.
	Changed func() <-chan struct{}
	// Leased returns the ID of the lease that shows this process to be alive, or 0 if it has none. Without a lease a hand-over
	// doesn't wait for it. The ID of a lost lease never returns, and the map in force is at least as new as the lease.
	Leased func() int64
	// Hold is the longest time that a statement is held.
	Hold time.Duration
	// Places has one place for each held statement.
	Places chan struct{}
}

// Gate is a session's gate. Its methods are for the session's goroutine, except Obeys and Preempt, which are safe for concurrent
// use.
type Gate struct {
	config  *Config
	current func() *router.Map // returns the map in force
	obeyed  obeyed

	preempting atomic.Pointer[preemption]
	told       bool // the current command was answered with the reason for the rollback
	untold     bool // the transaction was preempted, and the client doesn't know yet
}

// New returns the gate of an idle session.
func New(config *Config, current func() *router.Map) *Gate {
	return &Gate{config: config, current: current}
}

// Enter records that a statement begins under a map. open reports whether a transaction continues, which may have begun under an
// older map. Enter returns whether the map is still in force. If it isn't, the goroutine that replaced it may have checked this session
// before the statement was recorded, so the session must enter again with the new map.
func (g *Gate) Enter(m *router.Map, open bool) bool {
	g.obeyed.begin(m.Version(), open)
	if !m.Moving().Empty() {
		g.obeyed.undecide()
	}
	return g.current() == m
}

// Rest records the end of a command.
func (g *Gate) Rest(open bool) {
	g.told = false
	if !open {
		g.obeyed.nothing()
		return
	}
	g.obeyed.settle()
}

// Step records that nothing runs under the map that holds a statement, except an open transaction.
func (g *Gate) Step(open bool) {
	if !open {
		g.obeyed.nothing()
		return
	}
	g.obeyed.decide(nil, false)
}

// Admission is how a statement was admitted. Statements run as parts of it share it. The zero value is for statements on genes
// that don't move.
type Admission struct {
	Moving bool  // the statement concerns moving genes
	lease  int64 // the lease under which the statement was admitted, if it needs one
}

// Admit admits a statement on the given genes, or on all genes if all is set. If a move's step holds some of them, it returns a
// [HeldError]. A transaction that ran on held genes before the fence may continue to its end; the fence waits for it.
func (g *Gate) Admit(m *router.Map, genes []gene.Gene, all, open bool) (a Admission, err error) {
	moving := m.Moving()
	if moving.Empty() {
		return a, nil
	}
	if a.Moving = meets(moving, genes, all); a.Moving {
		if a.lease = g.config.Leased(); a.lease == 0 {
			return a, errUnleased
		}
		if g.current() != m { // the map may be older than the lease
			return a, errOutdated
		}
	}
	if held := m.Held(); meets(held, genes, all && m.HoldsGenes()) && !(open && g.obeyed.precedes(m.Version(), held)) {
		return a, errHeld
	}
	g.obeyed.decide(genes, all)
	return a, nil
}

// ConcernsNone records that a started statement concerns no sharded rows.
func (g *Gate) ConcernsNone(m *router.Map) {
	if !m.Moving().Empty() {
		g.obeyed.decide(nil, false)
	}
}

// StillLeased checks the lease again after a connection was acquired. Time may have passed since the statement was admitted,
// and the connection may be newer than a hand-over that did not wait for this proxy. A new lease isn't enough, because the
// statement's map is older than it.
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
