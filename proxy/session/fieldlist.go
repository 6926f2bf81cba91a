package session

import (
	"bytes"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/catalog"
)

// fieldList answers COM_FIELD_LIST, which the command-line clients send for
// every table when they connect; every table has its columns on the first shard.
func (s *Session) fieldList(payload []byte) error {
	w := s.snapshot()
	table, _, _ := bytes.Cut(payload[1:], []byte{0})
	if err := s.account.Rights.Table(catalog.TableName{Schema: s.vars.Settings.Database(), Name: string(table)}); err != nil {
		return s.writeError(err)
	}
	l, err := s.conns.Acquire(w.Catalog.First(), txn.Outside)
	if err != nil {
		return s.writeError(err)
	}
	out, _ := wire.AppendPacket(s.out[:0], 0, payload)
	s.out = out
	if err := l.Conn.Send(out, backend.Nothing); err != nil {
		l.Unsent(err)
		return s.writeError(err)
	}
	if err := s.relay(l.Conn, wire.FieldListResponse, nil); err != nil {
		l.Lost()
		return s.finish(err)
	}
	l.Release()
	return nil
}
