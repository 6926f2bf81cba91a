package fence

import "locus/idgen/gene"

// preemption is what a session gives way to: the map that holds these genes.
type preemption struct {
	version int64
	held    gene.Set
}

// Preempt has the session give way to a hand-over of the genes: what it has under way on them by a map older than version is to
// be rolled back. It tells whether there is anything to wait for. It may be called again.
func (g *Gate) Preempt(version int64, held gene.Set) bool {
	if g.Obeys(version, held) {
		return false
	}
	g.preempting.Store(&preemption{version, held})
	return true
}

// Preempted tells, once, whether the session is to roll its transaction back now; open: there is one.
func (g *Gate) Preempted(open bool) bool {
	if g.preempting.Load() == nil { // which costs nothing
		return false
	}
	p := g.preempting.Swap(nil)
	return p != nil && open && !g.Obeys(p.version, p.held)
}

// GaveWay says that it did. The client is to be told, unless the command that has just ended was answered with it.
func (g *Gate) GaveWay() {
	g.obeyed.nothing()
	g.untold = !g.told
}

// Tell notes whether the command under way is answered with why it is preempted.
func (g *Gate) Tell(told bool) { g.told = told }

// Untold tells, once, whether the client is to be told that its transaction was preempted.
func (g *Gate) Untold() bool {
	untold := g.untold
	g.untold = false
	return untold
}
