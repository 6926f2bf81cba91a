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

// presentTime is the time limit of the question whether a shard answers.
const presentTime = 2 * time.Second

// present refuses a definition, which no transaction can undo, before any shard has it, unless every shard answers.
func present(r *exec.Request) error {
	for _, shard := range r.Catalog.Shards {
		if err := r.Reach(shard, presentTime); err != nil {
			return absent(shard, err)
		}
	}
	return nil
}

// absent returns the error for the client. A server's error about the proxy's own question is passed on.
func absent(shard router.ShardName, err error) error {
	if txn.IsRefusal(err) && !exec.Unreached(err) {
		return err
	}
	if lost, ok := errors.AsType[*backend.LostError](err); ok {
		err = lost.Err // nothing else was sent
	}
	return wire.Errorf(wire.ErNetRead, wire.StateLink, "shard %s can't be asked, and a definition is made on every shard or on none: %v; the statement was not run on any shard", shard, err)
}
