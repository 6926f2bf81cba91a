package exec

import (
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

// Part is the part of a statement that one shard is sent.
type Part struct {
	Shard  router.ShardName
	Text   []byte // nil: the client's own
	Params []wire.Param
	// Rows contains the numbers, in the client's statement, of the rows of an INSERT's part. nil: the part has all rows.
	Rows []int
}

// Everywhere returns parts with the same text for all shards.
func Everywhere(shards []router.ShardName, text []byte) []Part {
	parts := make([]Part, len(shards))
	for i, shard := range shards {
		parts[i] = Part{Shard: shard, Text: text}
	}
	return parts
}

// takeWarnings records the warnings of a connection's last answer for the client.
func (x *Execution) takeWarnings(l txn.Lease) {
	if !x.silent {
		x.keepWarnings(l)
	}
}

// copies reports whether the statement is a change that every shard makes alike. The client gets the result of one shard.
func (x *Execution) copies() bool {
	_, is := x.Plan.(*plan.Global)
	return is
}

// sendAll sends all parts on connections that are acquired in the mode. If one can't be sent, the connections of the parts that were
// sent are given up.
func (x *Execution) sendAll(parts []Part, mode txn.Mode) ([]txn.Lease, error) {
	leases, err := x.acquire(parts, mode)
	if err != nil {
		return nil, err
	}
	sent, err := x.sendTo(leases, parts)
	if err == nil {
		return sent, nil
	}
	for _, l := range sent {
		l.Lost()
	}
	return nil, err
}

// sendTo sends the parts in their order to the first leases, and returns these leases. After an error it returns the leases whose
// parts were sent, and has ended all others.
func (x *Execution) sendTo(leases []txn.Lease, parts []Part) ([]txn.Lease, error) {
	for i, p := range parts {
		if err := x.send(leases[i], p.Text, p.Params); err != nil {
			leases[i].Unsent(err)
			release(leases[i+1:])
			return leases[:i], err
		}
	}
	return leases[:len(parts)], nil
}

// acquire acquires a connection to each shard, in the order of the parts. That order is the same for all sessions, so that two
// sessions never wait for each other's connections.
func (x *Execution) acquire(parts []Part, mode txn.Mode) ([]txn.Lease, error) {
	leases := make([]txn.Lease, 0, len(parts))
	for _, p := range parts {
		l, err := x.Conns.AcquireAs(p.Shard, mode, x.under())
		if err != nil {
			release(leases)
			return nil, err
		}
		leases = append(leases, l)
		if l.Stale() {
			x.markStale(l)
		}
	}
	return leases, nil
}

func release(leases []txn.Lease) {
	for _, l := range leases {
		l.Release()
	}
}
