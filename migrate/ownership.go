package migrate

import (
	"sync"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/job"
	"locus/router"
)

// ownership tells the streams whose a moving row is now: with its gene, or by its residue.
//
// The owner of now is the owner at the position of the change that is judged: a
// step waits, with writes held, until the stream has applied everything that the
// giver logged; so all that comes later is by the new owner, or went past the
// proxies.
type ownership struct {
	mu     sync.Mutex
	target router.Part // of the moving rows, those of the target
	either router.Part // those that a step is handing over
}

// set takes the owners of a map; of an import, whose genes have theirs already, those of the record.
func (o *ownership) set(j *job.Job, m *router.Map) {
	target, _ := j.Rows(j.State.Cut)
	if move, there := m.MoveOf(j.ID); there && move.Divides() {
		target, _ = j.Rows(int(move.Share))
	} else if j.Import == nil {
		target = router.Whole(m.GenesOf(j.To).Intersect(j.Genes))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.target = target
}

// handing says which rows are being handed over: their first changes at the
// receiver may be read before it is known here that the step was committed.
func (o *ownership) handing(rows router.Part) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.either = rows
}

// judge is the applier's, of the stream from the source or of the one back.
func (o *ownership) judge(fromTarget bool) applier.Judge {
	return func(changes.Position) func(gene.Gene, orderid.Residue) applier.Verdict {
		o.mu.Lock()
		target, either := o.target, o.either
		o.mu.Unlock()
		return func(g gene.Gene, r orderid.Residue) applier.Verdict {
			if target.Has(g, r) == fromTarget || either.Has(g, r) {
				return applier.Apply
			}
			return applier.IfUnchanged
		}
	}
}
