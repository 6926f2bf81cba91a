package exec

import (
	"errors"
	"slices"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router"
)

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
