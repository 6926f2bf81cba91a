package fence

import "locus/idgen/gene"

// preemption is the reason why a session must give way: a map that holds these genes, or another condition.
type preemption struct {
	version int64
	held    gene.Set
	lasts   func() bool // the other condition; nil for a map
}

// waits reports whether the preemption still waits for the session.
func (p *preemption) waits(g *Gate) bool {
	if p.lasts != nil {
		return p.lasts()
	}
	return !g.Obeys(p.version, p.held)
}

// PreemptWhile makes the session give way to something other than a map. Its transaction is rolled back if lasts then still
// returns true. It may be called repeatedly.
func (g *Gate) PreemptWhile(lasts func() bool) { g.preempting.Store(&preemption{lasts: lasts}) }

// Preempt makes the session give way to a hand-over of genes. Its transaction or statement on them is rolled back if it uses a
// map older than version. Preempt returns whether there is anything to wait for. It may be called repeatedly.
func (g *Gate) Preempt(version int64, held gene.Set) bool {
	if g.Obeys(version, held) {
		return false
	}
	g.preempting.Store(&preemption{version: version, held: held})
	return true
}

// Preempted reports once whether the session must roll back its transaction now. open reports whether there is one. A client
// that was informed must not find it open, even if the fence doesn't wait for it, since its next BEGIN would commit.
func (g *Gate) Preempted(open bool) bool {
	if g.preempting.Load() == nil && !g.told { // a cheap check
		return false
	}
	p := g.preempting.Swap(nil)
	return open && (g.told || p != nil && p.waits(g))
}

// RolledBack records that the session gave way. The client must be informed, unless the answer to the last command did so.
func (g *Gate) RolledBack() {
	g.obeyed.nothing()
	g.told, g.untold = false, !g.told
}

// NoteReported records that the current command was answered with the reason for the rollback.
func (g *Gate) NoteReported() { g.told = true }

// TakeUnreported reports once whether the client must be informed that its transaction was preempted.
func (g *Gate) TakeUnreported() bool {
	untold := g.untold
	g.untold = false
	return untold
}
