package exec

import (
	"errors"
	"slices"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router"
)

// SendPresent is Send of a read for which the rows of the shards that are there will do: those that can't be asked are left out.
// If none can, it fails as ever.
func (x Several) SendPresent(parts []Part) ([]txn.Lease, error) {
	x.Mode |= txn.Soon
	parts = slices.DeleteFunc(parts, func(p Part) bool { return slices.Contains(x.Of.Absent, p.Shard) }) // it is run again
	for {
		leases, err := x.Send(parts)
		shard, away := unasked(err)
		if !away || len(parts) <= 1 {
			return leases, err
		}
		parts = slices.DeleteFunc(parts, func(p Part) bool { return p.Shard == shard })
		x.Of.Absent = append(x.Of.Absent, shard)
		x.Vars.Warn("the rows of shard " + string(shard) + " are missing from this answer (locus_partial is on): " + err.Error())
	}
}

// unasked gives the shard that an error is about, of which it says that it is not there, and not merely busy.
func unasked(err error) (shard router.ShardName, ok bool) {
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
