package exec

import (
	"locus/proxy/backend"
	"locus/proxy/scatter"
	"locus/proxy/txn"
	"locus/router/plan"
)

// merge merges the answers into one for the client, and ends the leases.
func (x *Execution) merge(leases []txn.Lease, how *plan.Merge, format scatter.Format, limit plan.Window, as scatter.Options) (scatter.Outcome, error) {
	conns := make([]*backend.Conn, len(leases))
	for i, l := range leases {
		conns[i] = l.Conn
	}
	as.Whole = x.Conns.Running() || x.Conns.ReservesAny()
	if t := x.Observer.Trace(); t != nil {
		as.Ended = func(i int, code uint16) { t.Answered(string(leases[i].Shard), 0, code) }
	}
	outcome, err := scatter.Merge(conns, how, format, limit, x.Client, as)
	for i, l := range leases {
		if i >= len(outcome.Clean) || !outcome.Clean[i] {
			l.Lost()
			continue
		}
		if outcome.Warnings > 0 {
			x.takeWarnings(l)
		}
		endAnswered(l, outcome.Status[i])
	}
	return outcome, err
}

// endAnswered ends a lease whose answer was read completely. Status 0 means that the answer was an error.
func endAnswered(l txn.Lease, status uint16) {
	if status != 0 {
		l.Done(status)
	} else {
		l.Refused(0)
	}
}
