package exec

import (
	"time"

	"locus/proxy/sysvars"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
)

// Statement is what is carried out, as its session has it.
type Statement interface {
	// Send sends it to a connection, with what must come before it there. Without a text, the client's own is meant.
	Send(l txn.Lease, text []byte, params []wire.Param) error
	// Warned takes over the warnings of a connection's last answer.
	Warned(l txn.Lease)
	// Trace is the statement's; nil: it is not traced.
	Trace() *trace.Statement
}

// Part is what one shard is sent of a statement.
type Part struct {
	Shard  router.ShardName
	Text   []byte // nil: the client's own
	Params []wire.Param
}

// Everywhere is the same text for all shards.
func Everywhere(shards []router.ShardName, text []byte) []Part {
	parts := make([]Part, len(shards))
	for i, shard := range shards {
		parts[i] = Part{Shard: shard, Text: text}
	}
	return parts
}

// Several carries one statement out on several shards.
type Several struct {
	Of    Statement
	Conns *txn.Connections
	Mode  txn.Mode // that connections are acquired for

	// Clock: it may put the time into rows. All shards take the same, unless the client has set one in Vars: At, or that of now.
	Clock bool
	Vars  *sysvars.Values
	At    time.Time
	// Copies: every shard makes the same change, of which the client is told once.
	Copies bool
}

// Send sends all parts. If one can't be sent, the connections of those that were are given up.
func (x Several) Send(parts []Part) ([]txn.Lease, error) {
	sent, err := x.send(parts)
	if err == nil {
		return sent, nil
	}
	for _, l := range sent {
		l.Lost()
	}
	return nil, err
}

// send sends the parts in their order, and nothing before there is a connection to each shard. After an error it gives those
// that were sent theirs.
func (x Several) send(parts []Part) ([]txn.Lease, error) {
	leases, err := x.acquire(parts)
	if err != nil {
		return nil, err
	}
	for i, p := range parts {
		if err := x.Of.Send(leases[i], p.Text, p.Params); err != nil {
			leases[i].Unsent(err)
			release(leases[i+1:])
			return leases[:i], err
		}
	}
	return leases, nil
}

// acquire finds a connection to each shard, in their order: it is the same for all sessions, so that two never wait for each
// other's.
func (x Several) acquire(parts []Part) ([]txn.Lease, error) {
	leases := make([]txn.Lease, 0, len(parts))
	for _, p := range parts {
		l, err := x.Conns.Acquire(p.Shard, x.Mode)
		if err != nil {
			release(leases)
			return nil, err
		}
		leases = append(leases, l)
	}
	return leases, nil
}

func release(leases []txn.Lease) {
	for _, l := range leases {
		l.Release()
	}
}
