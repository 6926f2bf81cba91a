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

// send sends the statement, together with the statements that must precede it, in one write if possible. It
// reads the answers to the preceding statements. A nil text stands for the client's own command.
func (x *Execution) send(l txn.Lease, text []byte, params []wire.Param) error {
	if x.unsent != nil {
		if err := x.unsent(l.Shard); err != nil {
			return err
		}
	}
	if err := x.prepareTextual(l); err != nil {
		return err
	}
	before := x.preceding(l)
	if err := x.Gate.StillLeased(x.Admission); err != nil {
		return err
	}
	if l.Fresh() && x.Prepared != nil && x.Vars.ReadsOnly() {
		if err := x.openFirst(l, before); err != nil {
			return err
		}
		before = nil
	}
	packet, err := x.packet(l.Conn, text, params, before)
	if err != nil {
		return err
	}
	x.Observer.Sent(l)
	x.LogEffects()
	if err := l.Conn.Send(packet, txn.Effects(x.Facts)); err != nil {
		return err
	}
	for range before {
		if _, err := l.Conn.Outcome(); err != nil {
			return l.Conn.Lost(true, err)
		}
	}
	return nil
}

// openFirst sends the statements that must precede a PREPARE, and reads their answers. MariaDB refuses to prepare a write in a
// read-only transaction, and the transaction that is opened here may be writable.
func (e *Engine) openFirst(l txn.Lease, before []string) error {
	for _, text := range before {
		if _, err := l.Conn.Own().Exec(e.Context, text); err != nil {
			return l.Conn.Lost(true, err)
		}
	}
	l.Opened()
	return nil
}

// preceding returns the statements that must be sent on a connection first.
func (x *Execution) preceding(l txn.Lease) []string {
	list := l.Opening()
	if x.Facts.ReadsInsertID {
		list = append(slices.Clip(list), "SET last_insert_id = "+utoa(x.Vars.InsertID))
	}
	if x.Vars.ForcedID != 0 && forcesID(x) {
		l.Conn.Note(backend.State) // if the statement is refused, the value remains set for the next one
		list = append(slices.Clip(list), "SET insert_id = "+utoa(x.Vars.ForcedID))
	}
	return list
}

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }

// forcesID reports whether SET insert_id may have been meant for a statement.
func forcesID(w *Execution) bool {
	switch w.Facts.Statement.Kind {
	case stmt.Insert, stmt.Replace, stmt.LoadData:
		_, one := w.Plan.(*plan.OneShard)
		return one
	default:
		return false
	}
}

// packet builds the command for a connection. The client's own packet is sent unchanged if nothing is to be changed.
func (x *Execution) packet(c *backend.Conn, text []byte, params []wire.Param, before []string) ([]byte, error) {
	if x.Prepared != nil {
		return x.executePacket(c, text, params, before)
	}
	out := x.Client.Out[:0]
	for _, b := range before {
		out, _ = wire.AppendCommand(out, mysql.COM_QUERY, []byte(b))
	}
	if text != nil {
		out, _ = wire.AppendCommand(out, mysql.COM_QUERY, text)
	} else {
		out, _ = wire.AppendPacket(out, 0, x.Payload)
	}
	x.Client.Out = out
	return out, nil
}
