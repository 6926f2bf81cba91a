package ops

import (
	"context"
	"fmt"
	"slices"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/control/keyring"
	"locus/idgen/cipher"
)

// A key ring is a file on the machine of the operator. So the requests below name a file, and only the command line offers them.

// CreateKeys requests the file of a key ring with one random key of version 1.
type CreateKeys struct{ File string }

// Do creates the file. It does not replace one, because its keys decode existing numbers.
func (r CreateKeys) Do() error {
	_, err := cipher.Create(r.File)
	return err
}

// AddKey requests another key in the file of a key ring. It hides nothing before a [RotateKey].
type AddKey struct {
	File string
	Key  cipher.Rotation
}

// Do adds the key, and returns its version.
func (r AddKey) Do() (version uint32, err error) {
	r.Key.Add = true
	return cipher.Rotate(r.File, r.Key)
}

// RingKey is a version of a key ring's file. It contains no key.
type RingKey struct {
	Version uint32 `json:"version"`
	Cipher  string `json:"cipher,omitempty"`
	State   string `json:"state"` // current, decodes or retired
}

// RingKeys returns the versions of a key ring's file. The current version is the cluster's, or the file's own if o is nil or the
// cluster's is unknown. unknown is the reason for that, if o is not nil.
func RingKeys(ctx context.Context, o *Ops, file string) (list []RingKey, unknown, err error) {
	ring, err := cipher.Load(file)
	if err != nil {
		return nil, nil, err
	}
	current := ring.Current()
	if o != nil {
		var settled keyring.Current
		if settled, _, unknown = keyring.ReadCurrent(ctx, o.kv); unknown == nil && settled.Version > 0 {
			current = settled.Version
		}
	}
	for _, version := range ring.Versions() {
		state := "decodes"
		if version == current {
			state = "current"
		}
		list = append(list, RingKey{version, ring.Cipher(version), state})
	}
	for _, version := range ring.Retired() {
		list = append(list, RingKey{version, "", "retired"})
	}
	slices.SortFunc(list, func(a, b RingKey) int { return int(a.Version) - int(b.Version) })
	return list, unknown, nil
}

// RetireKey requests that a key is removed from the file of a key ring for ever. The numbers that it hides can't be decoded any more.
type RetireKey struct {
	File    string
	Version uint32
}

// KeyRetirement is a checked [RetireKey]. Nothing is written yet.
type KeyRetirement struct {
	RetireKey
	use uint32 // the version that the file names as current first; 0: it is not changed
}

// PlanRetireKey checks that no new number is hidden by the key. If o is nil, no cluster is named, and only the file is checked, when it
// is written.
func PlanRetireKey(ctx context.Context, o *Ops, r RetireKey) (KeyRetirement, error) {
	if o == nil {
		return KeyRetirement{RetireKey: r}, nil
	}
	current, err := o.checkKeyUnused(ctx, r.Version)
	if err != nil {
		return KeyRetirement{}, err
	}
	ring, err := cipher.Load(r.File)
	if err != nil || ring.Current() != r.Version {
		current = 0
	}
	return KeyRetirement{r, current}, err
}

// Do removes the key from the file.
func (r KeyRetirement) Do() error {
	if r.use > 0 {
		if err := cipher.Use(r.File, r.use); err != nil {
			return err
		}
	}
	return cipher.Retire(r.File, r.Version)
}

// RotateKey requests that another key hides new numbers, once every process has it.
type RotateKey struct {
	File string
	// Key is the version, and how its key is made if the file has none. Version 0 is the newest one of the file, if that was never
	// current, or else the one after it.
	Key cipher.Rotation
	// Existing: only a key of the file becomes current, and none is made.
	Existing bool
	// Wait is how long to wait for processes that lack the key; 0: not at all.
	Wait time.Duration
}

// KeyRotation is a checked [RotateKey]. Nothing is written yet.
type KeyRotation struct {
	Version uint32 // that is to be current
	Before  uint32 // the current one; 0: none is settled
	Adds    bool   // the file has no key of the version yet
	// Lacking contains the processes that lack the key. It is empty if the file has no key yet, which every process lacks.
	Lacking []keyring.Lack

	RotateKey
	ring *cipher.Ring
}

// Rotated is the result of a rotation.
type Rotated struct {
	Version uint32         `json:"version"` // the version that is to be current
	Before  uint32         `json:"before"`
	Added   bool           `json:"added"`   // its key was added to the file
	Current bool           `json:"current"` // it hides new numbers now
	Lacking []keyring.Lack `json:"lacking"` // processes that can't read it, or don't use it for new IDs yet
	// Unused is the reason why the file names another version as current, which counts for a new cluster alone; nil: it does not.
	Unused error `json:"-"`
}

// RotationProgress is called during a rotation. Each function may be called from one goroutine at a time.
type RotationProgress struct {
	Unreachable func(error)                  // etcd does not answer, and the request waits for it
	Added       func(version uint32)         // a key was added to the file, which is to be copied to every process
	Waiting     func(waiting []keyring.Lack) // the list of processes that lack the key has changed
}

// PlanRotateKey chooses the version, and checks that the IDs of all tables can use it. It waits for etcd, for r.Wait at most.
func (o *Ops) PlanRotateKey(ctx context.Context, r RotateKey, progress RotationProgress) (*KeyRotation, error) {
	ring, err := cipher.Load(r.File)
	if err != nil {
		return nil, err
	}
	k := &KeyRotation{RotateKey: r, ring: ring, Lacking: []keyring.Lack{}}
	return k, patiently(ctx, r.Wait, progress.Unreachable, func() error { return o.chooseKey(ctx, k) })
}

// RotateKey makes the planned version current. An error that wraps [keyring.ErrUnchanged] means that the former one still is.
func (o *Ops) RotateKey(ctx context.Context, k *KeyRotation, by string, progress RotationProgress) (Rotated, error) {
	done := Rotated{Version: k.Version, Before: k.Before, Lacking: []keyring.Lack{}}
	if k.Adds {
		k.Key.Version = k.Version
		if _, err := (AddKey{k.File, k.Key}).Do(); err != nil {
			return done, err
		}
		var err error
		if k.ring, err = cipher.Load(k.File); err != nil {
			return done, err
		}
		done.Added = true
		progress.Added(k.Version)
	}
	outcome, err := keyring.Rotation{
		KV: o.kv, Version: k.Version, Fingerprint: k.ring.Fingerprint(k.Version), By: by, Now: o.now, Wait: k.Wait, Tell: progress.Waiting,
	}.Run(ctx)
	if err != nil {
		return done, err
	}
	done.Before, done.Current, done.Lacking = outcome.Before, true, append(done.Lacking, outcome.Lagging...)
	done.Unused = cipher.Use(k.File, k.Version) // the version in etcd is authoritative
	return done, nil
}

// chooseKey sets the version that is to be current, whether its key must be made, and the processes that lack it.
func (o *Ops) chooseKey(ctx context.Context, k *KeyRotation) error {
	current, _, err := keyring.ReadCurrent(ctx, o.kv)
	if err != nil {
		return fmt.Errorf("%w: %w", keyring.ErrUnchanged, err)
	}
	k.Before = current.Version
	if err := k.choose(); err != nil {
		return err
	}
	if err := o.checkKeyVersion(ctx, k.ring, k.Version, k.Adds); err != nil {
		return fmt.Errorf("key version %d can't become current: %w: %w", k.Version, keyring.ErrUnchanged, err)
	}
	if k.Adds {
		return nil
	}
	cards, err := fleet.Processes(ctx, o.kv)
	if err != nil {
		return fmt.Errorf("%w: %w", keyring.ErrUnchanged, err)
	}
	k.Lacking = append([]keyring.Lack{}, keyring.Lacking(cards, k.Version, k.ring.Fingerprint(k.Version))...)
	return nil
}

func (k *KeyRotation) choose() error {
	versions, current := k.ring.Versions(), k.Before
	if current == 0 {
		current = k.ring.Current()
	}
	newest, has := versions[len(versions)-1], k.ring.Fingerprint(k.Key.Version) != ""
	switch {
	case k.Key.Version > 0 && !has && k.Existing:
		return fmt.Errorf("version %d is not in %s, which has %v: %w", k.Key.Version, k.File, versions, keyring.ErrUnchanged)
	case k.Key.Version > 0:
		k.Version, k.Adds = k.Key.Version, !has
	case newest > current:
		k.Version, k.Adds = newest, false
	default:
		k.Version, k.Adds = k.ring.Next(), true
	}
	return nil
}

// retryPause is the pause before another request to etcd.
const retryPause = time.Second

// patiently retries a read while etcd does not answer, for example while it has no leader, for at most wait. It
// reports the reason once.
func patiently(ctx context.Context, wait time.Duration, report func(error), read func() error) error {
	over := time.Now().Add(wait)
	for reported := false; ; reported = true {
		err := read()
		if err == nil || !etcd.Away(err) || time.Now().Add(retryPause).After(over) {
			return err
		}
		if !reported {
			report(err)
		}
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return err
		}
	}
}
