package doctor

import (
	"context"

	"locus/control/fleet"
	"locus/control/keyring"
)

// keys looks whether all processes can read what the others stamp. While keys are
// rotated some differ for a moment.
func (e *examination) keys(ctx context.Context) {
	current, _, err := keyring.ReadCurrent(ctx, e.KV)
	if err != nil {
		e.find("keys", "etcd", "see etcd's log", "which key version is current can't be read: %v", err)
		return
	}
	cards, err := fleet.Processes(ctx, e.KV)
	if err != nil {
		e.find("keys", "etcd", "see etcd's log", "the processes' key versions can't be read: %v", err)
		return
	}
	for _, l := range keyring.Differences(cards, current) {
		e.mayPass("keys", l.Process, "bring the current key ring's file to it; locus keys status shows all", "%s", l.Why)
	}
}
