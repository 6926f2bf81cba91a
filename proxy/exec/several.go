package exec

import (
	"context"
	"errors"
	"slices"

	"locus/proxy/backend"
	"locus/proxy/gather"
	"locus/proxy/scatter"
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

// sameParts returns parts with the same text for all shards.
func sameParts(shards []router.ShardName, text []byte) []Part {
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

// takeRowWarnings is takeWarnings for the part of an INSERT that has the rows with these numbers.
func (x *Execution) takeRowWarnings(l txn.Lease, rows []int) {
	from := len(x.Vars.Conditions)
	x.takeWarnings(l)
	x.Vars.Renumber(from, rows)
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

// merge merges the answers into one for the client, and ends the leases.
func (x *Execution) merge(leases []txn.Lease, how *plan.Merge, format scatter.Format, limit plan.Window, as scatter.Options) (scatter.Outcome, error) {
	conns := connsOf(leases)
	as.Whole = x.Conns.Running() || x.Conns.ReservesAny()
	if t := x.Observer.Trace(); t != nil {
		as.Ended = func(i int, code uint16) { t.Answered(string(leases[i].Shard), 0, code) }
	}
	outcome, err := scatter.Merge(conns, how, format, limit, x.Client, as)
	x.endMerged(leases, outcome)
	return outcome, err
}

func connsOf(leases []txn.Lease) []*backend.Conn {
	conns := make([]*backend.Conn, len(leases))
	for i, l := range leases {
		conns[i] = l.Conn
	}
	return conns
}

// endMerged ends the leases whose answers were merged.
func (x *Execution) endMerged(leases []txn.Lease, outcome scatter.Outcome) {
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
}

// endAnswered ends a lease whose answer was read completely. Status 0 means that the answer was an error.
func endAnswered(l txn.Lease, status uint16) {
	if status != 0 {
		l.Done(status)
	} else {
		l.Refused(0)
	}
}

// collect writes the rows of all answers into a table, counts the warnings, and ends the leases. After an error
// it discards the rest of an answer if that is at most drain bytes long. Otherwise it gives up the connection.
func (x *Execution) collect(ctx context.Context, leases []txn.Lease, into *gather.Table, drain int) (warnings int, failure error) {
	for _, l := range leases {
		table, before := *into, into.Left.Rows
		if failure != nil {
			table.Left = &gather.Limits{}
		}
		answer, err := table.Fill(ctx, l.Conn, drain)
		if failure != nil {
			err = nil
		}
		x.Observer.Trace().Answered(string(l.Shard), uint64(before-into.Left.Rows), txn.CodeOf(err))
		if failure == nil {
			failure = err
		}
		warnings += int(answer.Warnings)
		if answer.Clean && answer.Warnings > 0 {
			x.takeWarnings(l)
		}
		if answer.Clean {
			endAnswered(l, answer.Status)
		} else {
			l.Lost()
		}
	}
	return warnings, failure
}

// sendPresent is sendAll for a read that may return the rows of reachable shards alone. It omits the shards that can't be reached, and
// adds them to the Absent. If none can be reached, it fails like sendAll.
func (x *Execution) sendPresent(parts []Part, mode txn.Mode) ([]txn.Lease, error) {
	parts = slices.DeleteFunc(parts, func(p Part) bool { return slices.Contains(x.Absent, p.Shard) }) // a repeated read omits the same shards
	for {
		leases, err := x.sendAll(parts, mode|txn.Soon)
		shard, down := unreachable(err)
		if !down || len(parts) <= 1 {
			return leases, err
		}
		parts = slices.DeleteFunc(parts, func(p Part) bool { return p.Shard == shard })
		x.Absent = append(x.Absent, shard)
		x.Vars.Warn("the rows of shard " + string(shard) + " are missing from this answer (locus_partial is on): " + err.Error())
	}
}

// unreachable returns the shard that an error is about, if the error means that the shard is unreachable and not only busy.
func unreachable(err error) (shard router.ShardName, ok bool) {
	if e, is := errors.AsType[*backend.UnavailableError](err); is {
		return e.Shard, true
	}
	if e, is := errors.AsType[*backend.LoginError](err); is {
		return e.Shard, true
	}
	if e, is := errors.AsType[*backend.LostError](err); is && !e.Sent {
		return e.Shard, true
	}
	return "", false
}
