package fence

import "locus/idgen/gene"

// preemption is what a session gives way to: the map that holds these genes, or whatever else lasts.
type preemption struct {
	version int64
	held    gene.Set
	lasts   func() bool // nil: the map alone
}

// waits tells whether the preemption still waits for the session.
func (p *preemption) waits(g *Gate) bool {
	if p.lasts != nil {
		return p.lasts()
	}
	return !g.Obeys(p.version, p.held)
}

// PreemptWhile has the session give way to something else than a map: its transaction is to be rolled back if lasts still says
// so by then. It may be called again.
func (g *Gate) PreemptWhile(lasts func() bool) { g.preempting.Store(&preemption{lasts: lasts}) }

// Preempt has the session give way to a hand-over of the genes: what it has under way on them by a map older than version is to
// be rolled back. It tells whether there is anything to wait for. It may be called again.
func (g *Gate) Preempt(version int64, held gene.Set) bool {
	if g.Obeys(version, held) {
		return false
	}
	g.preempting.Store(&preemption{version: version, held: held})
	return true
}

// Preempted tells, once, whether the session is to roll its transaction back now; open: there is one. A client that was told so
// is not to find it open, whether or not the fence waits for it: its next BEGIN would commit.
func (g *Gate) Preempted(open bool) bool {
	if g.preempting.Load() == nil && !g.told { // which costs nothing
		return false
	}
	p := g.preempting.Swap(nil)
	return open && (g.told || p != nil && p.waits(g))
}

// GaveWay says that it did. The client is to be told, unless the command that has just ended was answered with it.
func (g *Gate) GaveWay() {
	g.obeyed.nothing()
	g.told, g.untold = false, !g.told
}

// Tell notes that the command under way is answered with why its transaction is rolled back.
func (g *Gate) Tell() { g.told = true }

// Untold tells, once, whether the client is to be told that its transaction was preempted.
func (g *Gate) Untold() bool {
	untold := g.untold
	g.untold = false
	return untold
}
