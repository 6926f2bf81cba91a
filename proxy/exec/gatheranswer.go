package exec

import (
	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
)

// Answer runs the statement over the temporary tables, and relays the answer to the client.
func (g *Gathering) Answer() error {
	l, w := g.At, g.Execution
	if err := l.Conn.Carry(g.Context, g.under()); err != nil {
		return err
	}
	w.Outside = true
	if err := w.send(l, g.Edited(w.Values.Text, g.Edits()), g.Bound()); err != nil {
		return err
	}
	g.Client.Warned = g.warned
	err := g.Relay(l.Conn, wire.QueryResponse, g.Status(), nil)
	g.Client.Warned = 0
	if err != nil {
		if !txn.IsRefusal(err) {
			return g.Unread(err)
		}
		return err
	}
	g.Observer.Answered(l.Shard)
	a := w.readAnswer()
	if g.settings != nil { // takeOver adopts the session's settings, which are not all that the connection has
		l.Conn.Note(backend.State)
	}
	w.takeOver(l, a, leftBy(w.Facts, a, true)&(warnings|foundRows|assigned))
	if !a.Failed {
		l.Conn.SetStatus(a.status)
	}
	return nil
}
