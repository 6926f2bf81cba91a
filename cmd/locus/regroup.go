package main

import (
	"context"
	"errors"
	"fmt"

	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/router/catalog"
	"locus/router/cluster"
)

// regroup gives the counters of every table's IDs the declared number of groups,
// while proxies make IDs. It is done again by each apply, since one that failed
// halfway is taken up by the next. Tables that nobody has made IDs of yet begin with
// that number by themselves.
func (a *application) regroup(ctx context.Context, conn *connection, c *cluster.Cluster) error {
	if a.dryRun {
		return nil
	}
	var errs []error
	for _, name := range c.TableNames() {
		for _, prefix := range counterPrefixes(c.CountersOf(name), c.Tables[name]) {
			store := segment.NewCASStore(conn.kv.Under(cluster.SegmentPrefix), prefix, a.stamp().By, a.in.now)
			was, err := store.Groups(ctx)
			if err == nil && was != 0 {
				err = store.Regroup(ctx, c.Settings.CounterGroups)
			}
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("counters of %s: %w", name, err))
			case was != 0 && was != c.Settings.CounterGroups && a.in.output == table:
				fmt.Fprintf(a.in.stdout, "counters of %s: %d groups, were %d\n", prefix[:len(prefix)-1], c.Settings.CounterGroups, was)
			}
		}
	}
	return errors.Join(errs...)
}

// counterPrefixes is what the keys of a table's counters begin with, for each
// layout of its IDs.
func counterPrefixes(name catalog.TableName, d catalog.Declaration) []string {
	if d.ID == nil {
		return nil
	}
	prefixes := []string{cluster.CounterPrefix(name, orderid.Layout{})}
	if wide := d.ID.Wide(); !wide.IsZero() {
		prefixes = append(prefixes, cluster.CounterPrefix(name, wide))
	}
	return prefixes
}
