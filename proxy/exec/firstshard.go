package exec

import (
	"context"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// FirstShard is where the session's variables are asked about.
type FirstShard struct{ *Environment }

func (f FirstShard) On(settings *backend.Settings, ask func(sysvars.Conn) error) error {
	return f.OnAny(settings, func(l txn.Lease) error { return ask(firstConn{l.Conn, f.Context}) })
}

// firstConn is a connection there, for texts of the proxy's own.
type firstConn struct {
	*backend.Conn
	ctx context.Context
}

func (c firstConn) Query(text string) (*backend.Rows, error) { return c.Own().Query(c.ctx, text) }
func (c firstConn) Exec(text string) (wire.OK, error)        { return c.Own().Exec(c.ctx, text) }
func (c firstConn) Carry(settings *backend.Settings) error   { return c.Conn.Carry(c.ctx, settings) }

// Compute has the shard compute a query of the client's making, and takes over what that
// leaves.
func (f FirstShard) Compute(settings *backend.Settings, query string) (*backend.Rows, error) {
	lexed := new(stmt.Lexed)
	lexed.Lex([]byte(query), f.Vars.Mode)
	facts, on := &plan.Facts{Leaves: plan.LeavesRoutine}, f.OnFirst
	if p, err := plan.Make(lexed, plan.Context{Catalog: f.Snapshot().Catalog, Schema: settings.Database()}); err == nil {
		facts = p.About()
		if _, alike := p.(*plan.AnyShard); alike && !RunsCode(facts) && len(facts.Statement.Tables) == 0 {
			on = f.OnAny
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

// Anew implements sysvars.Shard.
func (f FirstShard) Anew(names []string) (undo func()) { return f.Conns.Invalidate(names, nil) }

// OnFirst runs f on a connection to the first shard that carries the settings: the
// transaction's own if it is there, so that it sees the same.
func (e *Environment) OnFirst(settings *backend.Settings, f func(txn.Lease) error) error {
	return e.on(e.Snapshot().Catalog.First(), 0, settings, f)
}

// OnAny is OnFirst of what other shards may be asked too if the first is not well: once more, if one is lost.
func (e *Environment) OnAny(settings *backend.Settings, f func(txn.Lease) error) error {
	return e.Anywhere(e.StandIns(e.Snapshot()), true, func(shard router.ShardName, how txn.Mode) error { return e.on(shard, txn.Describes(how), settings, f) })
}

func (e *Environment) on(shard router.ShardName, how txn.Mode, settings *backend.Settings, f func(txn.Lease) error) error {
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
