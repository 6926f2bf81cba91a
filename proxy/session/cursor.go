package session

import (
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/stmt"
)

// cursor is a result that a shard keeps for a prepared statement and gives out by
// COM_STMT_FETCH. A read of several shards has none: all of its rows come at once,
// as the protocol allows.
type cursor struct {
	on    *holding
	there *backend.Statement // prepared for this cursor alone
}

// holding is a connection that stays with the session since cursors are open on
// it. One that is a branch of the transaction becomes the session's own when that
// ends: what cursors read doesn't end with it.
type holding struct {
	branch
	open int  // cursors
	own  bool // no transaction has it
}

// wantsCursor tells an execution that asks for a cursor, of a statement that can
// have one.
func wantsCursor(e wire.Execute, p *prepared) bool {
	return e.Cursor&mysql.CURSOR_TYPE_READ_ONLY != 0 && p.plan.Statement.Kind == stmt.Select && !p.plan.Writes
}

// lendForCursor takes a connection that has cursors already, if no transaction
// says which one it must be.
func (s *Session) lendForCursor(shard router.ShardName, outside bool) (lease, error) {
	for _, h := range s.holdings {
		if h.own && h.shard == shard && !s.txn.running() && h.conn.Carry(s.ctx, s.vars.Settings) == nil {
			h.own = false
			return lease{branch: h.branch, outside: outside}, nil
		}
	}
	return s.lend(shard, outside)
}

// openCursor notes that the shard has opened the cursor it was asked for. Nobody
// else may execute its statement from now on.
func (s *Session) openCursor(l lease, p *prepared, there *backend.Statement) {
	h := s.holdingOf(l.conn)
	if h == nil {
		h = &holding{branch: l.branch}
		s.holdings = append(s.holdings, h)
	}
	h.open++
	l.conn.Claim(there)
	p.cursor = &cursor{on: h, there: there}
}

func (s *Session) holdingOf(c *backend.Conn) *holding {
	for _, h := range s.holdings {
		if h.conn == c {
			return h
		}
	}
	return nil
}

// keepsForCursors keeps a connection that would be given back.
func (s *Session) keepsForCursors(b branch) bool {
	h := s.holdingOf(b.conn)
	if h == nil || h.open == 0 {
		return false
	}
	h.own = true
	return true
}

// closeCursor ends a statement's cursor, and gives the connection back with the
// last one. The server has no answer to it.
func (s *Session) closeCursor(p *prepared) {
	c := p.cursor
	if c == nil {
		return
	}
	p.cursor = nil
	_ = c.on.conn.Unprepare(c.there) // a connection that this breaks isn't lent again
	if c.on.open--; c.on.open > 0 {
		return
	}
	s.forgetHolding(c.on)
	if c.on.own {
		s.giveBack(c.on.branch)
	}
}

func (s *Session) closeCursors() {
	for _, p := range s.prepared {
		s.closeCursor(p)
	}
}

func (s *Session) forgetHolding(h *holding) {
	s.holdings = slices.DeleteFunc(s.holdings, func(other *holding) bool { return other == h })
}

// loseCursors forgets the cursors on a connection that is given up.
func (s *Session) loseCursors(c *backend.Conn) {
	h := s.holdingOf(c)
	if h == nil {
		return
	}
	s.forgetHolding(h)
	for _, p := range s.prepared {
		if p.cursor != nil && p.cursor.on == h {
			p.cursor = nil
		}
	}
}

// fetch answers COM_STMT_FETCH.
func (s *Session) fetch(payload []byte) error {
	s.vars.Commands[stmt.CountFetch]++
	p, err := s.statement(payload)
	if err != nil {
		return s.writeError(err)
	}
	f, err := wire.ParseFetch(payload)
	if err != nil {
		return s.writeError(fail(erMalformed, stateGeneral, "%v", err))
	}
	c := p.cursor
	if c == nil {
		return s.writeError(fail(erNoCursor, stateGeneral, "The statement (%d) has no open cursor.", p.id))
	}
	f.Statement = c.there.ID
	s.out = wire.AppendFetch(s.out[:0], f)
	err = c.on.conn.Send(s.out, backend.Nothing)
	if err == nil {
		err = s.relay(c.on.conn, wire.RowsResponse, nil)
	}
	if err != nil {
		s.giveUp(c.on)
		return s.finish(err)
	}
	status := s.scanner.Status()
	if _, failed := s.scanner.ErrCode(); failed || status&mysql.SERVER_STATUS_LAST_ROW_SEND != 0 {
		s.closeCursor(p)
	}
	return nil
}

// giveUp ends a connection that was lost while a cursor was read.
func (s *Session) giveUp(h *holding) {
	own := h.own
	s.loseCursors(h.conn)
	if own {
		s.discard(h.branch)
		return
	}
	s.loseTransaction(h.shard)
}
