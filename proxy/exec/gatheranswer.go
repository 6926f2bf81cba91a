package exec

import (
	"locus/proxy/txn"
	"locus/proxy/wire"
)

// Answer runs the statement over the temporary tables, and passes the answer on.
func (e *Environment) Answer(w *Work, g *Gathering) error {
	l := g.At
	if err := l.Conn.Carry(e.Context, e.Vars.Settings); err != nil {
		return err
	}
	w.Outside = true
	if err := e.Send(l, w, e.Edited(w.Values.Text, g.Edits()), g.Bound()); err != nil {
		return err
	}
	if err := e.Relay(l.Conn, wire.QueryResponse, e.WithStatus()); err != nil {
		if !txn.IsRefusal(err) {
			return g.Unread(err)
		}
		return err
	}
	e.Observer.Answered(l.Shard)
	a := e.answered(w)
	e.takeOver(l, w, a, leftBy(w.Facts, a, true)&(warnings|foundRows))
	if !a.Failed {
		l.Conn.SetStatus(a.status)
	}
	return nil
}
