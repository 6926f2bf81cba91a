package ops

import (
	"context"
	"errors"
	"fmt"

	"locus/control/keyring"
	"locus/idgen"
	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/proxy"
	"locus/router/catalog"
	"locus/router/cluster"
)

// IssueIDs requests IDs of a table, as an INSERT through a proxy would get them. They are used up even if no row gets them.
type IssueIDs struct {
	Table catalog.TableName
	Gene  gene.Gene // in the widest layout of the table's IDs
	Count int
	Keys  *cipher.Ring // nil: there are none
}

// IssuedIDs contains consecutive IDs.
type IssuedIDs struct {
	Layout orderid.Layout
	First  orderid.ID
	Hiding catalog.Hiding
}

// IssueIDs takes IDs from the counters of the proxies.
func (o *Ops) IssueIDs(ctx context.Context, c *cluster.Cluster, r IssueIDs, by string) (IssuedIDs, error) {
	d := c.Tables[r.Table]
	l, err := orderid.ByName(d.ID.Layout)
	if err != nil {
		return IssuedIDs{}, err
	}
	counted := c.CountersOf(r.Table)
	store := func(l orderid.Layout) *segment.CASStore {
		return segment.NewCASStore(o.kv.Under(cluster.SegmentPrefix), cluster.CounterPrefix(counted, l), by, o.now)
	}
	version := uint32(0)
	if r.Keys != nil && d.Hiding() != catalog.InClear {
		if version, err = keyring.InForce(ctx, o.kv, r.Keys); err != nil {
			return IssuedIDs{}, fmt.Errorf("IDs of %s: %w", r.Table, err)
		}
	}
	if version, err = proxy.PinKeyVersion(ctx, store(orderid.Layout{}), d, r.Keys, version); err != nil {
		return IssuedIDs{}, fmt.Errorf("IDs of %s: %w", r.Table, err)
	}
	form := numbers{l, version, d.ID.Segments.Start, c.Settings.CounterGroups}
	first, err := form.issue(ctx, store(orderid.Layout{}), r.Gene&l.GeneWidth().Last(), r.Count)
	if wide := d.ID.Wide(); !wide.IsZero() && errors.Is(err, orderid.ErrSequenceExhausted) {
		form.layout = wide
		first, err = form.issue(ctx, store(wide), r.Gene, r.Count)
	}
	return IssuedIDs{form.layout, first, d.Hiding()}, err
}

// numbers describes the IDs of a table.
type numbers struct {
	layout  orderid.Layout
	version uint32 // the version of the key that hides their sequences
	start   uint64 // the first number of a counter that was not used yet
	groups  int
}

func (f numbers) issue(ctx context.Context, store *segment.CASStore, g gene.Gene, n int) (first orderid.ID, err error) {
	store = store.StartingAt(f.start)
	size := uint64(n)
	segments, err := segment.OpenGrouped(ctx, store, store, f.layout, segment.Options{Groups: f.groups, MinStep: size, MaxStep: size, Lazy: true})
	if err != nil {
		return orderid.ID{}, err
	}
	defer func() { err = errors.Join(err, segments.Close(context.WithoutCancel(ctx))) }()
	issuer, err := idgen.NewIssuer(f.layout, f.version, segments)
	if err != nil {
		return orderid.ID{}, err
	}
	return issuer.Issue(ctx, g, n)
}
