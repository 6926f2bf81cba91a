package doctor

import (
	"context"
	"time"

	"locus/control/finding"
	"locus/control/fleet"
	"locus/control/keyring"
)

// keys checks that all processes can read the IDs that the others make. During a rotation of the keys some
// can't for a moment.
func (e *examination) keys(ctx context.Context) {
	current, _, err := keyring.ReadCurrent(ctx, e.KV)
	if err != nil {
		e.find(finding.AtRisk, "keys", "etcd", "see etcd's log", "which key version is current can't be read: %v", err)
		return
	}
	cards, err := fleet.Processes(ctx, e.KV)
	if err != nil {
		e.find(finding.AtRisk, "keys", "etcd", "see etcd's log", "the processes' key versions can't be read: %v", err)
		return
	}
	for _, l := range keyring.Differences(cards, current) {
		e.mayPass(finding.AtRisk, "keys", l.Process, "bring the current key ring's file to it; locus keys status shows all", "%s", l.Why)
	}
}

// rotations checks the age of the current key. It ignores errors, because keys reports them.
func (e *examination) rotations(ctx context.Context) {
	if current, _, err := keyring.ReadCurrent(ctx, e.KV); err == nil {
		e.rotation(current)
	}
}

// rotation reports a key that is older than the schedule allows.
func (e *examination) rotation(current keyring.Current) {
	s := e.Cluster.Settings
	if due := current.Due(s.KeyRotation()); !due.IsZero() && e.Now().After(due) {
		e.find(finding.Advice, "keys", "etcd", "locus keys rotate --wait, and bring the key ring's file to every process", "key version %d hides new numbers since %s: rotate_keys_every is %s, so another key has been due for %d days",
			current.Version, finding.Measure(current.At.UTC().Format(time.DateOnly)), s.RotateKeysEvery, int(e.Now().Sub(due).Hours()/24))
	}
}
