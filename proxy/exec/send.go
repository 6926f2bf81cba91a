package exec

import (
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// send sends a connection what must precede the statement, and the statement, in one write if possible. It reads the answers to
// what precedes the statement. A nil text stands for the client's own command.
func (e *Environment) send(l txn.Lease, w *Work, text []byte, params []wire.Param) error {
	if e.unsent != nil {
		if err := e.unsent(l.Shard); err != nil {
			return err
		}
	}
	if err := e.prepareTextual(l, w); err != nil {
		return err
	}
	before := e.preceding(l, w)
	if err := e.Gate.StillLeased(w.Admission); err != nil {
		return err
	}
	if l.Fresh() && w.Prepared != nil && e.Vars.ReadsOnly() {
		if err := e.openFirst(l, before); err != nil {
			return err
		}
		before = nil
	}
	packet, err := e.packet(l.Conn, w, text, params, before)
	if err != nil {
		return err
	}
	e.Observer.Sent(l)
	e.LogEffects(w)
	if err := l.Conn.Send(packet, txn.Effects(w.Facts)); err != nil {
		return err
	}
	for range before {
		if _, err := l.Conn.Outcome(); err != nil {
			return l.Conn.Lost(true, err)
		}
	}
	return nil
}

// openFirst sends what must precede the statement, and reads the answers, before a PREPARE. MariaDB refuses to prepare a write in a
// transaction that is read-only, and the one that is opened here may write.
func (e *Environment) openFirst(l txn.Lease, before []string) error {
	for _, text := range before {
		if _, err := l.Conn.Own().Exec(e.Context, text); err != nil {
			return l.Conn.Lost(true, err)
		}
	}
	l.Opened()
	return nil
}

// preceding returns the statements that must be sent on a connection first.
func (e *Environment) preceding(l txn.Lease, w *Work) []string {
	list := l.Opening()
	if w.Facts.ReadsInsertID {
		list = append(slices.Clip(list), "SET last_insert_id = "+utoa(e.Vars.InsertID))
	}
	if e.Vars.ForcedID != 0 && forcesID(w) {
		l.Conn.Note(backend.State) // if the statement is refused, the value remains for the next one
		list = append(slices.Clip(list), "SET insert_id = "+utoa(e.Vars.ForcedID))
	}
	return list
}

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }

// forcesID reports whether SET insert_id may have been meant for a statement.
func forcesID(w *Work) bool {
	switch w.Facts.Statement.Kind {
	case stmt.Insert, stmt.Replace, stmt.LoadData:
		_, one := w.Plan.(*plan.OneShard)
		return one
	default:
		return false
	}
}

// packet builds the command for a connection. The client's own packet is sent unchanged if nothing is to be changed.
func (e *Environment) packet(c *backend.Conn, w *Work, text []byte, params []wire.Param, before []string) ([]byte, error) {
	if w.Prepared != nil {
		return e.executePacket(c, w, text, params, before)
	}
	out := e.Client.Out[:0]
	for _, b := range before {
		out, _ = wire.AppendCommand(out, mysql.COM_QUERY, []byte(b))
	}
	if text != nil {
		out, _ = wire.AppendCommand(out, mysql.COM_QUERY, text)
	} else {
		out, _ = wire.AppendPacket(out, 0, w.Payload)
	}
	e.Client.Out = out
	return out, nil
}
