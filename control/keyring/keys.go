package keyring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/idgen/cipher"
)

// Options configure a process's keys.
type Options struct {
	File string // path of the ring; empty for none
	KV   *etcd.KV
	By   string // the process's ID
	Log  *slog.Logger
	// Show publishes on the process's card what it can read.
	Show func(fleet.Keys)
	// Stamp sets the version for new IDs. Its error says which generators keep the previous version. It is then called
	// again.
	Stamp func(ctx context.Context, version uint32) error
	Now   func() time.Time
	// Look is the interval at which the file is read; default 2 s.
	Look time.Duration
}

// Keys holds this process's keys. Ring and Status are safe for concurrent use. Begin and Run are called one after the
// other.
type Keys struct {
	Options
	ring   atomic.Pointer[cipher.Ring]
	hangup chan struct{} // full if the file must be read now

	// State of the file; used by Run only.
	taken []byte // contents from which the ring was read
	seen  []byte // contents at the last read; nil if it could not be read

	read   time.Time // time of the last read of etcd; used by Run only
	behind error     // why new IDs don't have the cluster's version; used by Run only

	mu    sync.Mutex // guards the fields below
	shown fleet.Keys
}

const (
	// lookEvery is the interval at which the file is read. The file is small, and reading all of it takes some
	// microseconds. Reading also detects changes that a kernel watch or a modification time would miss: a link that
	// changed, as in Kubernetes mounts, a network file system, a copy that kept its time. A change counts once two
	// reads are equal, since its writer may not have finished.
	lookEvery = 2 * time.Second
	// askEvery is the interval at which etcd is read in addition to notified changes.
	askEvery = 30 * time.Second
	// patience is the time limit of one operation on etcd.
	patience = 5 * time.Second
)

// Open reads the ring.
func Open(o Options) (*Keys, error) {
	if o.Look <= 0 {
		o.Look = lookEvery
	}
	k := &Keys{Options: o, hangup: make(chan struct{}, 1)}
	if o.File != "" {
		text, err := os.ReadFile(o.File)
		if err != nil {
			return nil, fmt.Errorf("load key ring: %w", err)
		}
		ring, err := cipher.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", o.File, err)
		}
		if err := cipher.CheckMode(o.File); err != nil {
			o.Log.Warn("key ring", slog.Any("error", err))
		}
		k.ring.Store(ring)
		k.taken, k.seen = text, text
	}
	k.shown = fleet.KeysOf(k.ring.Load())
	return k, nil
}

// Ring returns the current keys, or nil if there are none.
func (k *Keys) Ring() *cipher.Ring { return k.ring.Load() }

// Status returns the contents of the card.
func (k *Keys) Status() fleet.Keys {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shown
}

// Reread makes Run read the file now, as SIGHUP does. It doesn't block.
func (k *Keys) Reread() {
	select {
	case k.hangup <- struct{}{}:
	default: // already requested
	}
}

// ErrAway is wrapped by the error of a Begin that could not reach etcd.
var ErrAway = errors.New("etcd could not be asked which key version hides new numbers")

// Begin determines the version for new IDs. If no process has set it before, Begin sets it to the ring's own. It is called
// after the card is published, and before the process serves anything. After an error other than [ErrAway] this process must
// not serve, because it can't read the IDs of other processes. needed reports whether the process needs a ring.
func (k *Keys) Begin(ctx context.Context, needed bool) error {
	current, err := k.settled(ctx)
	ring := k.Ring()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrAway, err)
	case current.Version == 0:
		return nil
	case ring == nil && needed:
		return fmt.Errorf("key version %d hides new numbers of this cluster since %s, and there is no key ring here: name one in the configuration as key_ring",
			current.Version, stamped(current.At))
	case ring == nil:
		return nil
	}
	if err := current.check(ring); err != nil {
		return fmt.Errorf("%s: %w", k.File, err)
	}
	return k.follow(ctx, current)
}

// settled returns the cluster's version. If no process has set it, settled sets it first.
func (k *Keys) settled(ctx context.Context) (Current, error) {
	current, _, err := ReadCurrent(ctx, k.KV)
	ring := k.Ring()
	if err != nil || current.Version > 0 || ring == nil {
		return current, err
	}
	first := Current{ring.Current(), ring.Fingerprint(ring.Current()), k.By, k.Now().UTC().Round(time.Second)}
	// The first process has set it, so an unknown outcome is resolved by reading it.
	if _, err := k.KV.CompareAndSwap(ctx, currentKey, 0, first.text()); err != nil && !errors.Is(err, etcd.ErrUnknown) {
		return current, err
	}
	current, _, err = ReadCurrent(ctx, k.KV)
	return current, err
}

// Run reads the file again when it changes and follows the cluster's version, until ctx ends.
func (k *Keys) Run(ctx context.Context) error {
	changes := k.KV.Under(prefix).Changes(ctx, 0)
	look := time.NewTicker(k.Look)
	defer look.Stop()
	for {
		select {
		case _, open := <-changes:
			if !open {
				return ctx.Err()
			}
			k.ask(ctx)
		case <-k.hangup:
			k.look(true)
			k.ask(ctx)
		case <-look.C:
			if k.look(false) || k.behind != nil || k.Now().Sub(k.read) > askEvery {
				k.ask(ctx)
			}
		}
	}
}

// look reads the file and reports whether another ring is in force. atOnce means that the file is known to be complete.
func (k *Keys) look(atOnce bool) bool {
	if k.File == "" {
		return false
	}
	text, err := os.ReadFile(k.File)
	settled := atOnce || err == nil && k.seen != nil && bytes.Equal(text, k.seen) || err != nil && k.seen == nil
	if k.seen = text; err != nil {
		k.seen = nil
	}
	switch {
	case !settled:
		return false
	case err != nil:
		k.refuse(fmt.Errorf("key ring: %w", err))
		return false
	case bytes.Equal(text, k.taken):
		k.refuse(nil)
		return false
	}
	if err := k.take(text); err != nil {
		k.refuse(fmt.Errorf("%s: %w", k.File, err))
		return false
	}
	return true
}

// take puts another ring into force and then publishes it.
func (k *Keys) take(text []byte) error {
	next, err := cipher.Parse(text)
	if err != nil {
		return err
	}
	if err := k.Ring().CheckSuccessor(next, k.Status().Stamps); err != nil {
		return err
	}
	k.ring.Store(next)
	k.taken = text
	k.show(func(shown *fleet.Keys) {
		shown.Versions, shown.Refused = fleet.KeysOf(next).Versions, ""
	})
	k.Log.Info("key ring read again", slog.Any("versions", next.Versions()), slog.Any("retired", next.Retired()))
	return nil
}

// refuse records why the ring's file is not accepted, or nil if it is. It logs the reason once.
func (k *Keys) refuse(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if k.Status().Refused == text {
		return
	}
	if err != nil {
		k.Log.Error("the key ring is refused, and the previous one stays in use", slog.Any("error", err))
	} else {
		k.Log.Info("the key ring's file has the key ring that is in use again")
	}
	k.show(func(shown *fleet.Keys) { shown.Refused = text })
}

// ask reads the cluster's version and follows it.
func (k *Keys) ask(ctx context.Context) {
	ring := k.Ring()
	if ring == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	current, err := k.settled(ctx)
	if err != nil {
		return // the outage of etcd is reported by other code, and ask is called again
	}
	k.read = k.Now()
	if err = current.check(ring); err == nil {
		err = k.follow(ctx, current)
	}
	if err != nil && (k.behind == nil || k.behind.Error() != err.Error()) {
		k.Log.Error("new IDs keep the previous key version", slog.Any("stamps", k.Status().Stamps), slog.Any("error", err))
	}
	k.behind = err
}

// follow stamps new IDs with the cluster's version and then publishes that.
func (k *Keys) follow(ctx context.Context, current Current) error {
	before := k.Status().Stamps
	if before == current.Version {
		return nil
	}
	if err := k.Stamp(ctx, current.Version); err != nil {
		return fmt.Errorf("stamp with key version %d: %w", current.Version, err)
	}
	k.Log.Info("new IDs carry a key version", slog.Any("version", current.Version), slog.Any("before", before))
	k.show(func(shown *fleet.Keys) { shown.Stamps, shown.Since = current.Version, current.At })
	return nil
}

func (k *Keys) show(change func(*fleet.Keys)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.shown)
	k.Show(k.shown)
}
