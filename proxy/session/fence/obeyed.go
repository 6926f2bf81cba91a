package fence

import (
	"slices"
	"sync"
	"sync/atomic"

	"locus/idgen/gene"
)

// obeyed is the oldest version of the route map by which something of the session is still under way, a statement, or a
// transaction that it began in, and the genes that this concerns, as far as some gene is moving. The session writes it, and
// whoever acknowledges a map reads it.
type obeyed struct {
	version atomic.Int64 // 0: nothing is under way; the one word that each statement writes
	noted   bool         // of the session: what follows isn't empty

	mu        sync.Mutex // guards what follows
	genes     []gene.Gene
	every     bool // any gene, not only those
	undecided bool // a statement has begun, and its genes aren't known yet
}

// mostConcerned is how many genes of a transaction are told apart: most have the rows of one owner.
const mostConcerned = 4

// begin notes a statement's version, unless that of its transaction is older.
func (o *obeyed) begin(version int64, open bool) {
	if before := o.version.Load(); before == 0 || before > version || !open {
		o.version.Store(version)
	}
}

// undecide says that a statement has begun that may concern any gene.
func (o *obeyed) undecide() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.noted, o.undecided = true, true
}

// decide says which genes the statement concerns that has begun: these besides those of the transaction so far, or with all set
// every one.
func (o *obeyed) decide(genes []gene.Gene, all bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.noted, o.undecided, o.every = true, false, o.every || all
	for _, g := range genes {
		switch {
		case slices.Contains(o.genes, g):
		case len(o.genes) == mostConcerned:
			o.every = true
		default:
			o.genes = append(o.genes, g)
		}
	}
}

// settle forgets a statement that has begun and failed before its genes were known.
func (o *obeyed) settle() {
	if o.noted { // seldom
		o.decide(nil, false)
	}
}

// nothing forgets all.
func (o *obeyed) nothing() {
	if o.version.Load() == 0 {
		return
	}
	o.version.Store(0)
	if !o.noted { // mostly
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.noted, o.undecided, o.every, o.genes = false, false, false, o.genes[:0]
}

// precedes tells whether the fence of a version waits for the transaction that is under way, since it has some of these genes.
func (o *obeyed) precedes(version int64, held gene.Set) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.version.Load() < version && (o.every || slices.ContainsFunc(o.genes, held.Contains))
}

// concerns tells whether what is under way may concern one of the genes.
func (o *obeyed) concerns(set gene.Set) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.undecided || o.every || slices.ContainsFunc(o.genes, set.Contains)
}

// Obeys tells whether nothing of the session goes on by a map older than version that may concern one of the genes; with an empty
// set, nothing at all.
func (g *Gate) Obeys(version int64, held gene.Set) bool {
	oldest := g.obeyed.version.Load()
	if oldest == 0 || oldest >= version {
		return true
	}
	return !held.Empty() && !g.obeyed.concerns(held)
}
