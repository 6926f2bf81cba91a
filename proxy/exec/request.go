package exec

import (
	"context"
	"errors"
	"sync"
	"time"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
)

// Request is one execution of a client's statement that takes more than to send it.
type Request struct {
	*Environment
	*Work
	Map     *router.Map
	Catalog *catalog.Catalog
	Params  []wire.Param // a copy of the client's; nil: it is no prepared statement

	// Added is spliced into the text of a definition.
	Added []plan.Splice
	// Ready is called before a definition is sent to any shard; its error is one before anything was done. May be nil.
	Ready func() error
}

// Request makes one of a statement. It has a copy of its work: that of a statement on one shard stays off the heap.
func (e *Environment) Request(w *Work) *Request {
	own := *w
	r := &Request{Environment: e, Work: &own, Map: w.Snapshot.Map, Catalog: w.Snapshot.Catalog}
	if w.Prepared != nil {
		r.Params = append([]wire.Param{}, w.Params...)
	}
	return r
}

// part carries out a text that is run as a part of the statement.
func (r *Request) part(p plan.Plan, v *plan.Values) Several {
	w := r.Work.Part(p, v)
	return Several{Environment: r.Environment, Of: w, Mode: r.purpose(w)}
}

// Apart lends a connection that is neither reserved nor the transaction's.
func (r *Request) Apart(shard router.ShardName, settings *backend.Settings) (txn.Lease, error) {
	m := txn.Apart | r.Elsewhere
	if r.Stale {
		m |= txn.MayBeStale
	}
	l, err := r.Conns.AcquireAs(shard, m, settings)
	if err == nil {
		r.Observer.Asked(shard)
	}
	return l, err
}

// Reach makes sure that a shard answers in time.
func (r *Request) Reach(shard router.ShardName, within time.Duration) error {
	l, err := r.Apart(shard, r.Vars.Settings)
	if err != nil {
		return err
	}
	if err := r.answers(l, within); err != nil {
		l.Fail(err)
		return err
	}
	l.Done(l.Conn.Status())
	return nil
}

func (r *Request) answers(l txn.Lease, within time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(r.Conns.Waits(), within, errNoAnswer)
	defer cancel()
	_, err := l.Conn.Own().Exec(ctx, "DO 0")
	return err
}

var errNoAnswer = errors.New("it does not answer")

// answerEach is answers of several connections at once. It returns an error for each, in their order.
func (r *Request) answerEach(leases []txn.Lease, within time.Duration) []error {
	return atOnce(len(leases), func(i int) error { return r.answers(leases[i], within) })
}

// atOnce calls do with the numbers below n in goroutines of their own, and returns their errors in that order.
func atOnce(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { errs[i] = do(i) })
	}
	running.Wait()
	return errs
}

// AskEach is Ask of several shards at once. It returns the rows and the error of each, in their order.
func (r *Request) AskEach(shards []router.ShardName, settings *backend.Settings, text string) (rows []*backend.Rows, errs []error) {
	rows = make([]*backend.Rows, len(shards))
	leases, refused := make([]txn.Lease, len(shards)), make([]error, len(shards))
	for i, shard := range shards {
		leases[i], refused[i] = r.Apart(shard, settings)
	}
	errs = atOnce(len(shards), func(i int) (err error) {
		if refused[i] == nil {
			rows[i], err = leases[i].Conn.Own().Query(r.Context, text)
		}
		return err
	})
	for i, l := range leases {
		switch {
		case refused[i] != nil:
			errs[i] = refused[i]
		case errs[i] != nil:
			l.Fail(errs[i])
		default:
			l.Done(l.Conn.Status())
		}
	}
	return rows, errs
}

// Ask asks a shard on such a connection.
func (r *Request) Ask(shard router.ShardName, settings *backend.Settings, text string) (*backend.Rows, error) {
	rows, errs := r.AskEach([]router.ShardName{shard}, settings, text)
	return rows[0], errs[0]
}
