package pool

import (
	"errors"
	"fmt"

	"locus/idgen/segment"
)

// request is the state of one node's request for a run. It decides the next step from the answers so far and performs
// nothing itself, so that the model can explore it.
type request struct {
	n, floor uint64 // numbers requested, all above floor; n = 0 only fills the pool
	size     uint64 // numbers that a fill requests from the durable store
	key      int    // index in Options.Keys, from 1, of the key to take from; 0: the next one in turn
	pooled   bool   // use the pool only; other pools are asked before the durable store

	step   step
	grant  segment.Grant // held by this node while filling
	result segment.Grant // when done
	err    error         // when done; nil if the result belongs to the caller
	before error         // why the pool returned nothing
	high   uint64        // highest number put into the pool before the grant was requested
	rounds int           // fills that were late, or whose numbers others took first
}

// step is the next step.
type step string

const (
	taking    step = "take from the pool"
	extending step = "extend the durable store for the pool"
	filling   step = "put the grant into the pool"
	direct    step = "take from the durable store"
	done      step = "done"
)

// maxRounds is how often a node fills for others before it takes for itself.
const maxRounds = 3

// errRedis means that Redis did not answer. Whether the script ran is unknown.
var errRedis = errors.New("no answer of Redis")

var errOvertaken = errors.New("other nodes filled the pool each time: try again")

func (r *request) begin(redis bool) {
	switch {
	case !redis:
		r.step = direct
	case r.n == 0:
		r.step = extending
	default:
		r.step = taking
	}
}

// tookFromPool continues after taking. Without an answer numbers may have been taken, and are lost.
func (r *request) tookFromPool(t taken, err error) {
	switch {
	case err != nil:
		r.withoutPool(err)
	case t.outcome == took:
		r.finish(segment.Grant{First: t.first, Last: t.first + r.n - 1}, nil)
	case r.rounds == maxRounds:
		r.withoutPool(errOvertaken)
	default:
		r.step = extending
	}
}

// extended continues after extending. Without a grant there is nothing to hand out, since numbers past the grants may
// belong to others.
func (r *request) extended(g segment.Grant, err error) {
	if err != nil {
		r.finish(segment.Grant{}, err)
		return
	}
	r.grant, r.step = g, filling
}

// filledPool continues after filling. Without an answer the grant may be in the pool, so it no longer belongs to this
// node.
func (r *request) filledPool(t taken, err error) {
	grant := r.grant
	r.grant = segment.Grant{}
	switch {
	case r.n == 0 && (err != nil || t.outcome != stale):
		r.finish(segment.Grant{}, err)
	case err != nil:
		r.withoutPool(err)
	case t.outcome == full: // the grant was not put into the pool, so it belongs to this node alone
		r.finish(segment.Grant{First: grant.First, Last: grant.First + r.n - 1}, nil)
	case t.outcome == stale && grant.First <= r.high:
		r.finish(segment.Grant{}, fmt.Errorf("%w: the store granted %d..%d, and Redis was given higher numbers before: "+
			"raise its bound above every number in use", segment.ErrWentBack, grant.First, grant.Last))
	case t.outcome == stale && r.rounds == maxRounds:
		r.finish(segment.Grant{}, errOvertaken)
	case t.outcome == stale: // other nodes were faster; a new grant is above the numbers that they put in
		r.high = t.high
		r.rounds++
		r.step = extending
	default:
		r.rounds++
		r.step = taking
	}
}

// withoutPool continues if the pool can't be used.
func (r *request) withoutPool(err error) {
	r.before = err
	if r.pooled {
		r.finish(segment.Grant{}, err)
		return
	}
	r.step = direct
}

// tookDirectly continues after direct.
func (r *request) tookDirectly(g segment.Grant, err error) {
	if err != nil && r.before != nil {
		err = fmt.Errorf("%w; before that: %w", err, r.before)
	}
	r.finish(g, err)
}

func (r *request) finish(g segment.Grant, err error) {
	r.step, r.result, r.err = done, g, err
}
