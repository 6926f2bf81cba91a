package session

import (
	"context"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// firstShard is where the session's variables are asked about.
type firstShard struct{ s *Session }

func (f firstShard) Flavor() flavor.Flavor { return f.s.flavor() }

func (f firstShard) On(settings *backend.Settings, ask func(sysvars.Conn) error) error {
	return f.s.onFirst(settings, func(b branch) error { return ask(firstConn{b.conn, f.s.ctx}) })
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
	leaves := plan.LeavesRoutine
	if p, err := plan.Make(lexed, plan.Context{Catalog: s.World().Catalog, Schema: settings.Database()}); err == nil {
		leaves = p.Leaves
	}
	var rows *backend.Rows
	err := s.onFirst(settings, func(b branch) (err error) {
		rows, err = b.conn.Own().Query(s.ctx, query)
		b.conn.Note(lefts[leaves])
		if leaves == plan.LeavesRoutine {
			s.stayForRoutine(lease{branch: b})
		}
		return err
	})
	return rows, err
}

// onFirst runs f on a connection to the first shard that carries the settings:
// the transaction's own if it is there, so that it sees the same.
func (s *Session) onFirst(settings *backend.Settings, f func(branch) error) error {
	shard := s.World().Catalog.First()
	if b := s.txn.on(shard); b != nil {
		if err := b.conn.Carry(s.ctx, settings); err != nil {
			return err
		}
		return f(*b)
	}
	b, err := s.borrow(shard, settings)
	if err != nil {
		return err
	}
	l := lease{branch: b, outside: s.txn.running()}
	err = f(b)
	switch {
	case err == nil:
		s.done(l, b.conn.Status())
	case refused(err):
		s.doneUntold(l, 0, false)
	default:
		s.discard(b)
	}
	return err
}

func (s *Session) shardOf(w *World, p *plan.Plan) router.ShardName {
	if p.Place == plan.Fixed {
		return p.Shard
	}
	return w.Catalog.First()
}
