package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locus/control/declared"
	"locus/control/fleet"
	"locus/control/keyring"
	"locus/idgen/cipher"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/proxy"
	"locus/router/catalog"
	"locus/router/cluster"
)

// KeyStatus contains the key versions of a cluster, without the keys.
type KeyStatus struct {
	Current   keyring.Current // its version is 0 if the cluster has none yet
	Due       time.Time       // when another key should become current; zero: there is no schedule
	Processes []ProcessKeys
	Differing int // processes that can't read numbers of others, or have another key for a version
}

// ProcessKeys contains the key versions that a process can read, and the one that it uses for new numbers.
type ProcessKeys struct {
	ID       string             `json:"id"`
	Versions []fleet.KeyVersion `json:"versions"`
	Stamps   uint32             `json:"stamps"`
	Problem  string             `json:"problem,omitempty"`
}

// KeyStatus returns the key versions of the cluster and its live processes.
func (o *Ops) KeyStatus(ctx context.Context) (*KeyStatus, error) {
	current, _, err := keyring.ReadCurrent(ctx, o.kv)
	if err != nil {
		return nil, err
	}
	cards, err := fleet.Processes(ctx, o.kv)
	if err != nil {
		return nil, err
	}
	s := &KeyStatus{Current: current, Processes: []ProcessKeys{}}
	state, err := declared.Read(ctx, o.kv)
	if err != nil {
		return nil, err
	}
	if state.Cluster != nil {
		s.Due = current.Due(state.Cluster.Settings.KeyRotation())
	}
	differences := keyring.Differences(cards, current)
	s.Differing = len(differences)
	for _, c := range cards {
		p := ProcessKeys{ID: c.ID, Versions: []fleet.KeyVersion{}}
		if c.Keys != nil {
			p.Versions, p.Stamps = slices.Concat(p.Versions, c.Keys.Versions), c.Keys.Stamps
		}
		if at := slices.IndexFunc(differences, func(l keyring.Lack) bool { return l.Process == c.ID }); at >= 0 {
			p.Problem = differences[at].Why
		}
		s.Processes = append(s.Processes, p)
	}
	return s, nil
}

// checkKeyVersion returns an error if the IDs of some table can't use a key version. adds reports that the ring has no key of it yet.
func (o *Ops) checkKeyVersion(ctx context.Context, ring *cipher.Ring, version uint32, adds bool) error {
	c, err := declared.Current(ctx, o.kv)
	if errors.Is(err, cluster.ErrNotDeclared) {
		return nil
	}
	if err != nil {
		return err
	}
	var problems []error
	for _, name := range c.TableNames() {
		if err := o.checkKeyOf(ctx, c, name, ring, version, adds); err != nil {
			problems = append(problems, fmt.Errorf("table %s: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// checkKeyOf returns an error if a table's IDs can't use a version: their layout has no room for it, or the version has another
// meaning in it than before.
func (o *Ops) checkKeyOf(ctx context.Context, c *cluster.Cluster, name catalog.TableName, ring *cipher.Ring, version uint32, adds bool) error {
	d := c.Tables[name]
	if d.Hiding() == catalog.InClear {
		return nil
	}
	if !adds {
		store := segment.NewCASStore(o.kv.Under(cluster.SegmentPrefix), cluster.CounterPrefix(c.CountersOf(name), orderid.Layout{}), "", o.now)
		return proxy.CheckKeyVersion(ctx, store, d, ring, version)
	}
	l, err := orderid.ByName(d.ID.Layout)
	if err == nil && version > l.MaxVersion() {
		err = fmt.Errorf("version %d is beyond %d, the last one of layout %s: retire one and rotate with --version and --reuse", version, l.MaxVersion(), l)
	}
	return err
}

// checkKeyUnused returns an error if a key version hides new numbers of the cluster, or of a process. Otherwise it returns the version
// that does; 0: none is settled.
func (o *Ops) checkKeyUnused(ctx context.Context, version uint32) (current uint32, err error) {
	c, _, err := keyring.ReadCurrent(ctx, o.kv)
	if err != nil {
		return 0, err
	}
	if c.Version == version {
		return 0, fmt.Errorf("version %d hides new numbers: locus keys rotate --wait first", version)
	}
	cards, err := fleet.Processes(ctx, o.kv)
	if err != nil {
		return 0, err
	}
	for _, card := range cards {
		if card.Keys != nil && card.Keys.Stamps == version {
			return 0, fmt.Errorf("process %s stamps with version %d yet: locus keys status", card.ID, version)
		}
	}
	return c.Version, nil
}
