package session

import (
	"context"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// firstShard is where the session's variables are asked about.
type firstShard struct{ s *Session }

func (f firstShard) Flavor() flavor.Flavor { return f.s.flavor() }

func (f firstShard) On(settings *backend.Settings, ask func(sysvars.Conn) error) error {
	return f.s.onAny(settings, func(l txn.Lease) error { return ask(firstConn{l.Conn, f.s.ctx}) })
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
func (f firstShard) Compute(settings *backend.Settings, query string) (*backend.Rows, error) {
	s, lexed := f.s, new(stmt.Lexed)
	lexed.Lex([]byte(query), s.vars.Mode)
	leaves, on := plan.LeavesRoutine, s.onFirst
	if p, err := plan.Make(lexed, plan.Context{Catalog: s.Snapshot().Catalog, Schema: settings.Database()}); err == nil {
		facts := p.About()
		leaves = facts.Leaves
		if _, alike := p.(*plan.AnyShard); alike && !runsCode(facts) && len(facts.Statement.Tables) == 0 {
			on = s.onAny
		}
	}
	var rows *backend.Rows
	err := on(settings, func(l txn.Lease) (err error) {
		rows, err = l.Conn.Own().Query(s.ctx, query)
		l.Conn.Note(lefts[leaves])
		if leaves == plan.LeavesRoutine {
			s.stayForRoutine(l)
		}
		return err
	})
	return rows, err
}

// onFirst runs f on a connection to the first shard that carries the settings: the
// transaction's own if it is there, so that it sees the same.
func (s *Session) onFirst(settings *backend.Settings, f func(txn.Lease) error) error {
	return s.on(s.Snapshot().Catalog.First(), settings, f)
}

// onAny is onFirst of what other shards may be asked too if the first is not well: once more, if one is lost.
func (s *Session) onAny(settings *backend.Settings, f func(txn.Lease) error) error {
	return s.anywhere(s.standIns(s.Snapshot()), true, func(shard router.ShardName) error { return s.on(shard, settings, f) })
}

func (s *Session) on(shard router.ShardName, settings *backend.Settings, f func(txn.Lease) error) error {
	m := s.soon
	if s.conns.Running() {
		m |= txn.Outside
	}
	l, err := s.conns.AcquireAs(shard, m, settings)
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

// Anew implements sysvars.Shard.
func (f firstShard) Anew(names []string) (undo func()) { return f.s.conns.Invalidate(names, nil) }
