package migrate

import (
	"sync"

	"locus/idgen/gene"
	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/job"
	"locus/router"
)

// ownership tells the streams whose a moving gene is now.
//
// The owner of now is the owner at the position of the change that is judged: a
// step waits, with writes held, until the stream has applied everything that the
// giver logged; so all that comes later is by the new owner, or went past the
// proxies.
type ownership struct {
	mu     sync.Mutex
	target gene.Set // of the moving genes, those of the target
	either gene.Set // those that a step is handing over
}

// set takes the owners of a map; of an import, whose genes have theirs already, those of the record.
func (o *ownership) set(j *job.Job, m *router.Map) {
	target := j.AtTarget(j.State.Cut)
	if j.Import == nil {
		target = m.GenesOf(j.To).Intersect(j.Genes)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.target = target
}

// handing says which genes are being handed over: their first changes at the
// receiver may be read before it is known here that the step was committed.
func (o *ownership) handing(genes gene.Set) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.either = genes
}

// judge is the applier's, of the stream from the source or of the one back.
func (o *ownership) judge(fromTarget bool) applier.Judge {
	return func(changes.Position) func(gene.Gene) applier.Verdict {
		o.mu.Lock()
		target, either := o.target, o.either
		o.mu.Unlock()
		return func(g gene.Gene) applier.Verdict {
			if target.Contains(g) == fromTarget || either.Contains(g) {
				return applier.Apply
			}
			return applier.IfUnchanged
		}
	}
}
