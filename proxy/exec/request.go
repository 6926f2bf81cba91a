package exec

import (
	"context"
	"errors"
	"time"

	"locus/proxy/backend"
	"locus/proxy/stamp"
	"locus/proxy/sysvars"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
)

// Session has statements sent that are parts of its client's.
type Session interface {
	Observer
	// Part is one of them, of which the session knows how it is sent.
	Part(p plan.Plan, v *plan.Values) Several
	// Stamp makes what the rows of an INSERT leave to be made, and splits them by shard.
	Stamp(p *plan.Stamped, v *plan.Values) (*stamp.Result, error)
	// StampCopies numbers rows of a global table.
	StampCopies(p *plan.Global, v *plan.Values) (*stamp.Result, error)
}

// Observer hears of what happens on the way.
type Observer interface {
	// Asked tells that a shard is asked something.
	Asked(shard router.ShardName)
	// Sent tells that a connection is sent the statement.
	Sent(l txn.Lease)
	// Warned tells that its answer had warnings, which it still has.
	Warned(l txn.Lease)
}

// Request is one execution of a client's statement that takes more than to send it.
type Request struct {
	Session
	Context context.Context // ends with the session
	Conns   *txn.Connections
	Vars    *sysvars.Values
	Trace   *trace.Statement // nil: it is not traced

	Facts  *plan.Facts
	Leaves backend.Leaves // what it leaves on a connection
	Values *plan.Values
	Params []wire.Param // nil: it is no prepared statement

	// Added is spliced into the text of a definition.
	Added []plan.Splice
	// Ready is called before a definition is sent to any shard; its error is one before anything was done. May be nil.
	Ready func() error

	Map     *router.Map
	Catalog *catalog.Catalog
	Schema  string // the default database
}

// Apart lends a connection that is neither reserved nor the transaction's.
func (r *Request) Apart(shard router.ShardName, settings *backend.Settings) (txn.Lease, error) {
	l, err := r.Conns.AcquireAs(shard, txn.Apart, settings)
	if err == nil {
		r.Asked(shard)
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

// Ask asks a shard on such a connection.
func (r *Request) Ask(shard router.ShardName, settings *backend.Settings, text string) (*backend.Rows, error) {
	l, err := r.Apart(shard, settings)
	if err != nil {
		return nil, err
	}
	rows, err := l.Conn.Own().Query(r.Context, text)
	if err != nil {
		l.Fail(err)
		return nil, err
	}
	l.Done(l.Conn.Status())
	return rows, nil
}
