package session

import (
	"errors"
	"time"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
)

// presentTime bounds the question whether a shard is there.
const presentTime = 2 * time.Second

// present makes sure that every shard answers before a definition is begun, which no transaction can undo: on a cluster of
// which a part is away it is refused before any shard has it.
func present(r *exec.Request) error {
	for _, shard := range r.Catalog.Shards {
		if err := r.Reach(shard, presentTime); err != nil {
			return absent(shard, err)
		}
	}
	return nil
}

// absent is what the client is told. What a server says of the proxy's own question is passed on.
func absent(shard router.ShardName, err error) error {
	if txn.IsRefusal(err) && !exec.Unreached(err) {
		return err
	}
	if lost, ok := errors.AsType[*backend.LostError](err); ok {
		err = lost.Err // nothing else was sent
	}
	return wire.Errorf(wire.ErNetRead, wire.StateLink, "shard %s can't be asked, and a definition is made on every shard or on none: %v; the statement was not run on any shard", shard, err)
}
