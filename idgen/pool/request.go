package pool

import (
	"errors"
	"fmt"

	"locus/idgen/segment"
)

// request is one node's wish for a run, as far as it has come. It decides what
// is to be done next from what was answered so far, and does nothing itself: so
// the model can explore it.
type request struct {
	n, floor uint64 // numbers wanted, all above floor; n = 0: only fill the pool
	size     uint64 // numbers that a fill asks the durable store for
	pooled   bool   // only from the pool: others are asked before the durable store is

	step   step
	grant  segment.Grant // held by this node, while filling
	result segment.Grant // when done
	err    error         // when done; nil: the result is the caller's
	before error         // why the pool gave nothing
	high   uint64        // put into the pool before the grant was asked for
	rounds int           // fills that came late, or whose numbers others took first
}

// step is what is to be done next.
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

// errRedis is an answer of Redis that did not come: what it did is unknown.
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

// tookFromPool continues after taking. Without an answer numbers may have been
// taken: they are lost.
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

// extended continues after extending. Without a grant there is nothing to hand
// out: what is past the grants may be somebody else's.
func (r *request) extended(g segment.Grant, err error) {
	if err != nil {
		r.finish(segment.Grant{}, err)
		return
	}
	r.grant, r.step = g, filling
}

// filledPool continues after filling. Without an answer the grant may be in the
// pool, so it is not this node's any more.
func (r *request) filledPool(t taken, err error) {
	grant := r.grant
	r.grant = segment.Grant{}
	switch {
	case r.n == 0 && (err != nil || t.outcome != stale):
		r.finish(segment.Grant{}, err)
	case err != nil:
		r.withoutPool(err)
	case t.outcome == full: // put nowhere, so it is this node's alone
		r.finish(segment.Grant{First: grant.First, Last: grant.First + r.n - 1}, nil)
	case t.outcome == stale && grant.First <= r.high:
		r.finish(segment.Grant{}, fmt.Errorf("%w: the store granted %d..%d, and Redis was given higher numbers before: "+
			"raise its bound above every number in use", segment.ErrWentBack, grant.First, grant.Last))
	case t.outcome == stale && r.rounds == maxRounds:
		r.finish(segment.Grant{}, errOvertaken)
	case t.outcome == stale: // others were faster; a grant from now on is above what they put in
		r.high = t.high
		r.rounds++
		r.step = extending
	default:
		r.rounds++
		r.step = taking
	}
}

// withoutPool continues where the pool is of no use.
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
