package exec

import (
	"errors"
	"slices"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router"
)

// SendPresent is Send for a read that may return the rows of reachable shards alone. It omits the shards that can't be reached, and
// adds them to the work's Absent. If none can be reached, it fails like Send.
func (x Several) SendPresent(parts []Part) ([]txn.Lease, error) {
	x.Mode |= txn.Soon
	parts = slices.DeleteFunc(parts, func(p Part) bool { return slices.Contains(x.Of.Absent, p.Shard) }) // a repeated read omits the same shards
	for {
		leases, err := x.Send(parts)
		shard, down := unreachable(err)
		if !down || len(parts) <= 1 {
			return leases, err
		}
		parts = slices.DeleteFunc(parts, func(p Part) bool { return p.Shard == shard })
		x.Of.Absent = append(x.Of.Absent, shard)
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
