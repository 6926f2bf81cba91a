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

// Options are what the keys of a process are made of.
type Options struct {
	File string // of the ring; empty: there is none
	KV   *etcd.KV
	By   string // the process's ID
	Log  *slog.Logger
	// Show puts what the process can read on its card.
	Show func(fleet.Keys)
	// Stamp has new IDs carry a version. An error says which go on with the one before;
	// it is called again then.
	Stamp func(ctx context.Context, version uint32) error
	Now   func() time.Time
	// Look is how often the file is read; default 2 s.
	Look time.Duration
}

// Keys are those of this process. Ring and Status are safe for concurrent use; Begin
// and Run are called one after the other.
type Keys struct {
	Options
	ring   atomic.Pointer[cipher.Ring]
	hangup chan struct{} // full: the file is to be read now

	// Of the file, and Run's alone.
	taken []byte // what the ring was read from
	seen  []byte // what it held at the last look; nil: it could not be read

	read   time.Time // when etcd was last asked; Run's alone
	behind error     // why new IDs don't carry the cluster's version; Run's alone

	mu    sync.Mutex // of what follows
	shown fleet.Keys
}

const (
	// lookEvery is how often the file is read. It is small: to read all of it costs some
	// microseconds, and sees what a watch by the kernel, or a look at its time, would
	// not: a link that points elsewhere, as Kubernetes mounts it, a network's file
	// system, a copy that kept its time. A change counts when two looks have seen the
	// same, since whoever writes it may be halfway.
	lookEvery = 2 * time.Second
	// askEvery is how often etcd is asked beside being told of changes.
	askEvery = 30 * time.Second
	// patience bounds what is asked of etcd at once.
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

// Ring is the keys of the moment; nil: there are none.
func (k *Keys) Ring() *cipher.Ring { return k.ring.Load() }

// Status is what the card says.
func (k *Keys) Status() fleet.Keys {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shown
}

// Reread has the file read now, as SIGHUP does. It doesn't wait.
func (k *Keys) Reread() {
	select {
	case k.hangup <- struct{}{}:
	default: // it is asked for already
	}
}

// ErrAway is in the error of a Begin that could not ask etcd.
var ErrAway = errors.New("etcd could not be asked which key version hides new numbers")

// Begin finds out which version new IDs carry, and settles it by the ring's own if no
// process has before. It is called when the card is known, and before anything is
// served: an error other than [ErrAway] means that this process must not serve, since
// it can't read what others stamp. needed: it takes part in that, so that it has to
// have a ring.
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

// settled is the cluster's version, after this process has settled it if nobody had.
func (k *Keys) settled(ctx context.Context) (Current, error) {
	current, _, err := ReadCurrent(ctx, k.KV)
	ring := k.Ring()
	if err != nil || current.Version > 0 || ring == nil {
		return current, err
	}
	first := Current{ring.Current(), ring.Fingerprint(ring.Current()), k.By, k.Now().UTC().Round(time.Second)}
	// Whoever came first has settled it; so an unknown outcome is settled by reading it.
	if _, err := k.KV.CompareAndSwap(ctx, currentKey, 0, first.text()); err != nil && !errors.Is(err, etcd.ErrUnknown) {
		return current, err
	}
	current, _, err = ReadCurrent(ctx, k.KV)
	return current, err
}

// Run reads the file again when it changes, and follows the cluster's version, until
// ctx ends.
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

// look reads the file, and tells whether another ring is in force. at once: it is known
// to be whole.
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

// take puts another ring into force, and then shows it.
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

// refuse notes why the ring's file is not taken over; nil: it is. It is logged once.
func (k *Keys) refuse(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if k.Status().Refused == text {
		return
	}
	if err != nil {
		k.Log.Error("the key ring is refused, and the one before stays", slog.Any("error", err))
	} else {
		k.Log.Info("the key ring's file is again what is in force")
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
		return // an etcd that is away is told of elsewhere; it is asked again
	}
	k.read = k.Now()
	if err = current.check(ring); err == nil {
		err = k.follow(ctx, current)
	}
	if err != nil && (k.behind == nil || k.behind.Error() != err.Error()) {
		k.Log.Error("new IDs go on with the key version before", slog.Any("stamps", k.Status().Stamps), slog.Any("error", err))
	}
	k.behind = err
}

// follow has new IDs carry the cluster's version, and then shows it.
func (k *Keys) follow(ctx context.Context, current Current) error {
	before := k.Status().Stamps
	if before == current.Version {
		return nil
	}
	if err := k.Stamp(ctx, current.Version); err != nil {
		return fmt.Errorf("stamp with key version %d: %w", current.Version, err)
	}
	k.Log.Info("new IDs carry a key version", slog.Any("version", current.Version), slog.Any("before", before))
	k.show(func(shown *fleet.Keys) { shown.Stamps = current.Version })
	return nil
}

func (k *Keys) show(change func(*fleet.Keys)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.shown)
	k.Show(k.shown)
}
