package session

import (
	"bytes"
	"slices"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/snapshot"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
)

// fieldList answers COM_FIELD_LIST, which the command-line clients send for every table when they connect.
func (s *Session) fieldList(payload []byte) error {
	w := s.snapshot()
	table, _, _ := bytes.Cut(payload[1:], []byte{0})
	name := catalog.TableName{Schema: s.vars.Settings.Database(), Name: string(table)}
	if err := s.engine.Account.Rights.Table(name); err != nil {
		return s.writeError(err)
	}
	return s.finish(s.engine.Anywhere(s.columnsOf(w, name), true, func(shard router.ShardName, how txn.Mode) error { return s.fieldListOn(shard, how, payload) }))
}

// columnsOf returns the shards that know the columns of a table. For a table that every shard has, these are all shards.
func (s *Session) columnsOf(w *snapshot.Snapshot, name catalog.TableName) exec.Candidates {
	t, err := w.Catalog.Find(name)
	switch {
	case err != nil || t == nil || slices.Contains(s.conns.TemporaryTables(), name):
		return exec.Candidates{Shards: w.Catalog.Shards[:1]}
	case t.Kind == catalog.Single:
		return exec.Candidates{Shards: []router.ShardName{t.Shard}}
	}
	return s.engine.StandIns(w)
}

// fieldListOn relays one shard's answer.
func (s *Session) fieldListOn(shard router.ShardName, how txn.Mode, payload []byte) error {
	l, err := s.conns.Acquire(shard, txn.Outside|txn.Describes(how))
	if err != nil {
		return err
	}
	out, _ := wire.AppendPacket(s.client.Out[:0], 0, payload)
	s.client.Out = out
	if err := l.Conn.Send(out, backend.Nothing); err != nil {
		l.Unsent(err)
		return err
	}
	if err := s.engine.Relay(l.Conn, wire.FieldListResponse, s.engine.Status(), nil); err != nil {
		l.Lost()
		return err
	}
	l.Release()
	return nil
}
