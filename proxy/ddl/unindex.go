package ddl

import (
	"context"
	"fmt"

	"locus/router/catalog"
)

// unindex withdraws the declarations of look-up tables that are about to be dropped. Other sessions write and use their entries until all proxies
// know that. After a failure the table is not declared any more on the shards that still have it, and the error of the definition names them.
func (d *definition) unindex() error {
	for _, name := range d.Facts.Statement.Dropped {
		full := d.FullName(name)
		declared, is := d.catalog.Declared(full)
		if !is || declared.Lookup == nil {
			continue
		}
		if d.Declarations == nil || d.Settled == nil {
			return undeclarable("nothing can be declared through this proxy, and table %s contains the entries of a look-up index: drop it through a proxy that has the cluster's etcd", full)
		}
		ctx, cancel := context.WithTimeout(d.Conns.Waits(), declareTime)
		err := d.Declarations.Withdraw(ctx, full, declared, d.User)
		cancel()
		if err != nil {
			return fmt.Errorf("table %s: its declaration as a look-up table could not be withdrawn: %w", full, err)
		}
		d.unindexed = append(d.unindexed, full)
	}
	if d.unindexed == nil {
		return nil
	}
	if err := d.Settled(d.Conns.Waits(), catalog.Change{Declared: true}); err != nil {
		return fmt.Errorf("not every proxy knows that the look-up tables are dropped: %w", err)
	}
	return nil
}
