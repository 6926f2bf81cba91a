package exec

import (
	"time"

	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
)

// Part is what one shard is sent of a statement.
type Part struct {
	Shard  router.ShardName
	Text   []byte // nil: the client's own
	Params []wire.Param
	// Rows are the numbers in the client's statement of the rows that an INSERT's part has. nil: the part has all of them.
	Rows []int
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
	*Environment
	Of   *Work
	Mode txn.Mode // that connections are acquired for
	// At is when the statement is, if it may put the time into rows: all shards take the same, unless the client has set one. Zero: now.
	At time.Time
	// silent: its warnings are nobody's.
	silent bool
}

// several has a statement carried out on several shards. It has a copy of its work, as Request has.
func (e *Environment) several(w *Work, m txn.Mode) Several {
	own := *w
	return Several{Environment: e, Of: &own, Mode: m}
}

// warned takes over the warnings of a connection's last answer.
func (x Several) warned(l txn.Lease) {
	if !x.silent {
		x.keepWarnings(l)
	}
}

// copies tells a change that every shard makes alike, of which the client is told once.
func (x Several) copies() bool {
	_, is := x.Of.Plan.(*plan.Global)
	return is
}

// Send sends all parts. If one can't be sent, the connections of those that were are given up.
func (x Several) Send(parts []Part) ([]txn.Lease, error) {
	leases, err := x.acquire(parts)
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

// sendTo sends the parts in their order to the first of the leases, and gives these. After an error it gives those that were sent
// theirs, and has released all others.
func (x Several) sendTo(leases []txn.Lease, parts []Part) ([]txn.Lease, error) {
	for i, p := range parts {
		if err := x.send(leases[i], x.Of, p.Text, p.Params); err != nil {
			leases[i].Unsent(err)
			release(leases[i+1:])
			return leases[:i], err
		}
	}
	return leases[:len(parts)], nil
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
		if l.Stale() {
			x.markStale(x.Of, l)
		}
	}
	return leases, nil
}

func release(leases []txn.Lease) {
	for _, l := range leases {
		l.Release()
	}
}
