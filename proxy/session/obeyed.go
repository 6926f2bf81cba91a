package session

import (
	"sync/atomic"

	"locus/idgen/gene"
)

// obeyed is the oldest version of the route map by which something of the
// session is still under way: a statement, or a transaction that it began in;
// and the genes that this concerns, as far as some gene is moving. It is written
// by the session and read by whoever acknowledges a map.
type obeyed struct {
	version atomic.Int64 // 0: nothing is under way
	concern atomic.Int32
	genes   [mostConcerned]atomic.Uint32 // a gene and 1; 0: none
}

// mostConcerned is how many genes of a transaction are told apart: most have the
// rows of one owner.
const mostConcerned = 4

// What a session says of the genes that it is concerned with.
const (
	listed    int32 = iota // those in genes, and no others
	everyGene              // any
	undecided              // a statement has begun, and its genes aren't known yet
	undecidedAll
)

// world loads what the statement is planned against, and makes known by which
// map. The pointer is loaded again after that: whoever replaced it in between may
// have looked at this session before it said anything.
func (s *Session) world() *World {
	for {
		w := s.World()
		version := w.Map.Version()
		if before := s.obeyed.version.Load(); before == 0 || before > version || !s.txn.running() {
			s.obeyed.version.Store(version)
		}
		if !w.Map.Moving().Empty() {
			s.obeyed.undecide()
		}
		if s.World() == w {
			s.obey(w)
			return w
		}
	}
}

// undecide says that a statement has begun that may concern any gene.
func (o *obeyed) undecide() {
	if o.concern.Load() == everyGene {
		o.concern.Store(undecidedAll)
		return
	}
	o.concern.CompareAndSwap(listed, undecided)
}

// decide says which genes the statement concerns that has begun: these besides
// those of the transaction so far, or with all set every one.
func (o *obeyed) decide(genes []gene.Gene, all bool) {
	all = all || o.concern.Load() == undecidedAll
	for _, g := range genes {
		all = all || !o.list(g)
	}
	if all {
		o.concern.Store(everyGene)
		return
	}
	o.concern.Store(listed)
}

// list notes a gene, and tells whether there was room.
func (o *obeyed) list(g gene.Gene) bool {
	for i := range o.genes {
		switch o.genes[i].Load() {
		case uint32(g) + 1:
			return true
		case 0:
			o.genes[i].Store(uint32(g) + 1)
			return true
		}
	}
	return false
}

// settle forgets a statement that has begun and failed before its genes were
// known.
func (o *obeyed) settle() {
	if c := o.concern.Load(); c == listed || c == everyGene { // mostly
		return
	}
	o.concern.CompareAndSwap(undecided, listed)
	o.concern.CompareAndSwap(undecidedAll, everyGene)
}

func (o *obeyed) nothing() {
	if o.version.Load() == 0 {
		return
	}
	o.version.Store(0)
	for i := range o.genes {
		if o.genes[i].Load() == 0 {
			break
		}
		o.genes[i].Store(0)
	}
	if o.concern.Load() != listed {
		o.concern.Store(listed)
	}
}

// concerns tells whether what is under way may concern one of the genes.
func (o *obeyed) concerns(set gene.Set) bool {
	return o.concern.Load() != listed || o.listsAny(set)
}

// listsAny tells whether one of the genes is listed, or all are.
func (o *obeyed) listsAny(set gene.Set) bool {
	if c := o.concern.Load(); c == everyGene || c == undecidedAll {
		return true
	}
	for i := range o.genes {
		g := o.genes[i].Load()
		if g == 0 {
			return false
		}
		if set.Contains(gene.Gene(g - 1)) {
			return true
		}
	}
	return false
}

// Obeys tells whether nothing of the session goes on by a map older than version
// that may concern one of the genes; with an empty set, nothing at all. It may be
// called from any goroutine.
func (s *Session) Obeys(version int64, held gene.Set) bool {
	oldest := s.obeyed.version.Load()
	if oldest == 0 || oldest >= version {
		return true
	}
	return !held.Empty() && !s.obeyed.concerns(held)
}
