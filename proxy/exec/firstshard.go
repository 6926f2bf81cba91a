package exec

import (
	"context"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

// FirstShard implements [sysvars.Shard]. It sends questions about the session's variables to the first shard.
type FirstShard struct {
	*Engine
	// Plan plans a query for a default database.
	Plan func(query, schema string) (plan.Plan, error)
}

// On implements [sysvars.Shard].
func (f FirstShard) On(settings *backend.Settings, ask func(sysvars.Conn) error) error {
	return f.onAny(settings, func(l txn.Lease) error { return ask(firstConn{l.Conn, f.Context}) })
}

// firstConn is a connection to that shard, for locus's own texts.
type firstConn struct {
	*backend.Conn
	ctx context.Context
}

func (c firstConn) Query(text string) (*backend.Rows, error) { return c.Own().Query(c.ctx, text) }
func (c firstConn) Exec(text string) (wire.OK, error)        { return c.Own().Exec(c.ctx, text) }
func (c firstConn) Carry(settings *backend.Settings) error   { return c.Conn.Carry(c.ctx, settings) }

// Compute runs a query that contains the client's own expressions. It takes over the session state that the query leaves on the
// connection. If all shards compute the same result, another shard may run it.
func (f FirstShard) Compute(settings *backend.Settings, query string) (*backend.Rows, error) {
	facts, on := &plan.Facts{Leaves: plan.LeavesRoutine}, f.OnFirst
	if p, err := f.Plan(query, settings.Database()); err == nil {
		facts = p.About()
		if _, alike := p.(*plan.AnyShard); alike && !runsCode(facts) && len(facts.Statement.Tables) == 0 {
			on = f.onAny
		}
	}
	var rows *backend.Rows
	err := on(settings, func(l txn.Lease) (err error) {
		rows, err = l.Conn.Own().Query(f.Context, query)
		l.Conn.Note(txn.Effects(facts))
		if facts.Leaves == plan.LeavesRoutine {
			f.reserveRoutine(l)
		}
		return err
	})
	return rows, err
}

// Reassign implements [sysvars.Shard].
func (f FirstShard) Reassign(names []string) (undo func()) { return f.Conns.Invalidate(names, nil) }

// OnFirst calls f with a connection to the first shard that carries the settings. If the transaction has a connection to that
// shard, f gets this one, so that it sees the same rows.
func (e *Engine) OnFirst(settings *backend.Settings, f func(txn.Lease) error) error {
	return e.on(e.Current().Catalog.First(), 0, settings, f)
}

// onAny is OnFirst for a question that other shards can answer too. They are asked if the first shard is not healthy. If a shard
// is lost, f is called again.
func (e *Engine) onAny(settings *backend.Settings, f func(txn.Lease) error) error {
	return e.Anywhere(e.StandIns(e.Current()), true, func(shard router.ShardName, how txn.Mode) error { return e.on(shard, txn.Describes(how), settings, f) })
}

// on calls f with a connection to a shard that carries the settings. A shard that is not part of the open transaction does not join it.
func (e *Engine) on(shard router.ShardName, how txn.Mode, settings *backend.Settings, f func(txn.Lease) error) error {
	if e.Conns.Running() {
		how |= txn.Outside
	}
	l, err := e.Conns.AcquireAs(shard, how, settings)
	if err != nil {
		return err
	}
	if err := f(l); err != nil {
		l.Fail(err)
		return err
	}
	l.Done(l.Conn.Status())
	return nil
}
