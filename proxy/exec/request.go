package exec

import (
	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
)

// Request is one execution of a client's statement that requires more than sending it.
type Request struct {
	*Environment
	*Work
	Map     *router.Map
	Catalog *catalog.Catalog
	Params  []wire.Param // a copy of the client's parameters; nil: the statement is not prepared

	// settings are those under which the statement runs; nil: the session's.
	settings *backend.Settings

	// Added is spliced into the text of a definition.
	Added []plan.Splice
	// Ready is called before a definition is sent to any shard. After an error the definition is not sent. May be nil.
	Ready func() error
}

// Request returns a request for a statement. It copies the work, so that the work of a statement on one shard stays off the heap.
func (e *Environment) Request(w *Work) *Request {
	own := *w
	r := &Request{Environment: e, Work: &own, Map: w.Snapshot.Map, Catalog: w.Snapshot.Catalog}
	if w.Prepared != nil {
		r.Params = append([]wire.Param{}, w.Params...)
	}
	return r
}

// part returns the execution, on several shards, of a text that is run as a part of the statement.
func (r *Request) part(p plan.Plan, v *plan.Values) Several {
	w := r.Work.Part(p, v)
	return Several{Environment: r.Environment, Of: w, Mode: r.purpose(w), settings: r.settings}
}

// under returns the settings under which the statement runs.
func (r *Request) under() *backend.Settings { return r.settingsOr(r.settings) }

// apartMode returns the mode of connections that are neither reserved nor the transaction's.
func (r *Request) apartMode() txn.Mode {
	m := r.Elsewhere
	if r.Stale {
		m |= txn.MayBeStale
	}
	return m
}

// Apart lends a connection that is neither reserved nor the transaction's.
func (r *Request) Apart(shard router.ShardName, settings *backend.Settings) (txn.Lease, error) {
	return r.Conns.LendApart(shard, r.apartMode(), settings)
}

// Ask sends a query to a shard on such a connection.
func (r *Request) Ask(shard router.ShardName, settings *backend.Settings, text string) (*backend.Rows, error) {
	return r.Conns.Ask(shard, r.apartMode(), settings, text)
}
