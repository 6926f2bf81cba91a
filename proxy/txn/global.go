package txn

import "locus/proxy/wire"

// XA records the phase of a client's own XA transaction after a statement. verb is the verb of the statement, and status is
// the status of its answer.
func (l Lease) XA(verb string, status uint16) {
	c := l.of
	switch verb {
	case "start":
		l.Reserve(GlobalTransaction)
		c.reserved.phase = "ACTIVE"
	case "end":
		l.phase("IDLE")
	case "prepare":
		if l.phase("PREPARED"); !c.client.Flavor().BindsPrepared() {
			l.endXA(status)
		}
	case "commit", "rollback":
		l.endXA(status)
	}
}

func (l Lease) phase(phase string) {
	if l.of.Reserved(GlobalTransaction) {
		l.of.reserved.phase = phase
	}
}

func (l Lease) endXA(status uint16) {
	if l.of.Reserved(GlobalTransaction) {
		l.Conn.SetStatus(status)
		l.Unreserve(GlobalTransaction)
	}
}

// BarredByXA returns the servers' error of a statement that would end a client's own XA transaction without XA.
func (c *Connections) BarredByXA() error {
	return wire.Errorf(erXABarred, "XAE07", "XAER_RMFAIL: The command cannot be executed when global transaction is in the  %s state", c.reserved.phase)
}
