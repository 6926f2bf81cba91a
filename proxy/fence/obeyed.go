package fence

import (
	"slices"
	"sync"
	"sync/atomic"

	"locus/idgen/gene"
)

// obeyed is the oldest version of the route map under which a statement or transaction of the session still runs. If some gene is
// moving, it also holds the genes concerned. The session writes it, and goroutines that acknowledge a map read it.
type obeyed struct {
	version atomic.Int64 // 0 if nothing runs; the only word that every statement writes
	noted   bool         // the fields below aren't empty; used by the session only

	mu        sync.Mutex // guards the fields below
	genes     []gene.Gene
	every     bool // any gene is concerned
	undecided bool // a statement has begun whose genes aren't known yet
}

// mostConcerned is how many genes of a transaction are tracked separately. Most transactions have rows of one owner.
const mostConcerned = 4

// begin records a statement's version, unless its transaction's is older.
func (o *obeyed) begin(version int64, open bool) {
	if before := o.version.Load(); before == 0 || before > version || !open {
		o.version.Store(version)
	}
}

// undecide records that a statement has begun that may concern any gene.
func (o *obeyed) undecide() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.noted, o.undecided = true, true
}

// decide records the genes of the started statement, in addition to those of its transaction, or all genes if all is set.
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

// settle forgets a statement that failed before its genes were known.
func (o *obeyed) settle() {
	if o.noted { // rare
		o.decide(nil, false)
	}
}

// nothing clears everything.
func (o *obeyed) nothing() {
	if o.version.Load() == 0 {
		return
	}
	o.version.Store(0)
	if !o.noted { // the usual case
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.noted, o.undecided, o.every, o.genes = false, false, false, o.genes[:0]
}

// precedes reports whether the fence of a version waits for the running transaction, because it concerns some of these genes.
func (o *obeyed) precedes(version int64, held gene.Set) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.version.Load() < version && (o.every || slices.ContainsFunc(o.genes, held.Contains))
}

// concerns reports whether something running may concern one of the genes.
func (o *obeyed) concerns(set gene.Set) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.undecided || o.every || slices.ContainsFunc(o.genes, set.Contains)
}

// Obeys reports whether nothing of the session runs under a map older than version that may concern one of the genes. With an
// empty set it reports whether nothing at all runs under an older map.
func (g *Gate) Obeys(version int64, held gene.Set) bool {
	oldest := g.obeyed.version.Load()
	if oldest == 0 || oldest >= version {
		return true
	}
	return !held.Empty() && !g.obeyed.concerns(held)
}
