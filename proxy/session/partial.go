package session

import (
	"errors"
	"slices"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/router"
)

// sendPresent is Send of a read for which the rows of the shards that are there will do: those that can't be asked are left
// out, and told of by a warning. If none can, it fails as ever.
func (s *Session) sendPresent(all exec.Several, parts []exec.Part) ([]txn.Lease, error) {
	if !s.partial {
		return all.Send(parts)
	}
	all.Mode |= txn.Soon
	parts = slices.DeleteFunc(parts, func(p exec.Part) bool { return slices.Contains(s.absent, p.Shard) }) // it is run again
	for {
		leases, err := all.Send(parts)
		shard, away := unasked(err)
		if !away || len(parts) <= 1 {
			return leases, err
		}
		parts = slices.DeleteFunc(parts, func(p exec.Part) bool { return p.Shard == shard })
		s.lack(shard, err)
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

// lack notes that the answer will be without a shard's rows.
func (s *Session) lack(shard router.ShardName, err error) {
	s.absent = append(s.absent, shard)
	s.vars.Warn("the rows of shard " + string(shard) + " are missing from this answer (locus_partial is on): " + err.Error())
}
