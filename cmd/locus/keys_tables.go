package main

import (
	"context"
	"fmt"

	"locus/idgen/orderid"
	"locus/proxy"
	"locus/router/catalog"
	"locus/router/cluster"
)

// fitsTable returns an error if a table's IDs can't use a version: their layout has no room for it, or the
// version has another meaning in it than before. adds reports that the ring has no key of it yet.
func (r *rotating) fitsTable(ctx context.Context, conn *connection, c *cluster.Cluster, name catalog.TableName, version uint32, adds bool) error {
	d := c.Tables[name]
	if d.Hiding() == catalog.InClear {
		return nil
	}
	if !adds {
		store := storeOf(conn.kv.Under(cluster.SegmentPrefix + cluster.CounterPrefix(c.CountersOf(name), orderid.Layout{})))
		return proxy.CheckKeyVersion(ctx, store, d, r.ring, version)
	}
	l, err := orderid.ByName(d.ID.Layout)
	if err == nil && version > l.MaxVersion() {
		err = fmt.Errorf("version %d is beyond %d, the last one of layout %s: retire one and rotate with --version and --reuse", version, l.MaxVersion(), l)
	}
	return err
}
