package keyring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"locus/config/etcd"
	"locus/idgen/cipher"
)

// prefix is the prefix of this package's keys. currentKey holds the version for new IDs.
const (
	// CurrentKey is the key of [Current].
	CurrentKey = prefix + "current"

	prefix     = "keys/"
	currentKey = CurrentKey
)

// Current is the key version of the cluster's new IDs, and since when it has been.
type Current struct {
	Version     uint32    `json:"version"` // 0 if it was never set
	Fingerprint string    `json:"fingerprint"`
	By          string    `json:"by"`
	At          time.Time `json:"at"`
}

// ReadCurrent reads it and the revision of its last change.
func ReadCurrent(ctx context.Context, kv *etcd.KV) (c Current, revision int64, err error) {
	text, revision, err := kv.Get(ctx, currentKey)
	if err != nil || revision == 0 {
		return Current{}, 0, err
	}
	if c, err = decode(text); err != nil {
		return Current{}, 0, fmt.Errorf("%s can't be read: %w; locus doctor shows the remedy", currentKey, err)
	}
	return c, revision, nil
}

func decode(text []byte) (c Current, err error) {
	if err := json.Unmarshal(text, &c); err != nil || c.Version == 0 {
		return Current{}, errors.Join(err, errors.New("it names no version"))
	}
	return c, nil
}

// Due returns when another key should become current, by a schedule. It is the zero time if there is no schedule, or no version.
func (c Current) Due(every time.Duration) time.Time {
	if every == 0 || c.Version == 0 {
		return time.Time{}
	}
	return c.At.Add(every)
}

// CheckCurrent returns why a value is no [Current].
func CheckCurrent(value []byte) error {
	_, err := decode(value)
	return err
}

// InForce returns the version for new IDs: etcd's, or the ring's own if no process has set it yet.
func InForce(ctx context.Context, kv *etcd.KV, ring *cipher.Ring) (uint32, error) {
	c, _, err := ReadCurrent(ctx, kv)
	switch {
	case err != nil:
		return 0, err
	case c.Version == 0:
		return ring.Current(), nil
	}
	return c.Version, c.check(ring)
}

// check returns an error if a ring can't read numbers hidden with the version.
func (c Current) check(ring *cipher.Ring) error {
	switch ring.Fingerprint(c.Version) {
	case c.Fingerprint:
		return nil
	case "":
		return fmt.Errorf("key version %d hides new numbers of this cluster since %s, and the key ring has only %v: bring the current ring to this machine",
			c.Version, stamped(c.At), ring.Versions())
	}
	return fmt.Errorf("key version %d hides new numbers of this cluster since %s, and the key ring has another key under it: bring the current ring to this machine",
		c.Version, stamped(c.At))
}

func stamped(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05Z") }

func (c Current) text() []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic("locus: plain fields can't fail to marshal: " + err.Error())
	}
	return text
}
