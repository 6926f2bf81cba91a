package ddl

import (
	"context"
	"fmt"

	"locus/router/catalog"
	"locus/router/stmt"
)

// unindex makes the cluster stop using look-up tables that are about to be dropped, or created without their entries. It withdraws the
// declarations of those that are dropped. Other sessions write and use their entries until all proxies know that. After a failure they are declared
// again as tables that are not filled, since entries may be missing.
func (d *definition) unindex() error {
	st := d.Facts.Statement
	names := st.Dropped
	if st.Features&stmt.MakesTable != 0 && len(st.Tables) > 0 {
		names = st.Tables[:1]
	}
	withdrawn := map[catalog.TableName]catalog.Declaration{}
	for _, name := range names {
		full := d.FullName(name)
		declared, is := d.catalog.Declared(full)
		if !is || declared.Lookup == nil {
			continue
		}
		empty := declared
		empty.Lookup = &catalog.LookupOf{Table: declared.Lookup.Table, Column: declared.Lookup.Column}
		if st.Features&stmt.MakesTable != 0 && (!declared.Lookup.Kept && !declared.Lookup.Filled || d.madeEverywhere()) {
			continue
		}
		if d.Declarations == nil || d.Settled == nil {
			return undeclarable("nothing can be declared through this proxy, and table %s contains the entries of a look-up index: use a proxy that has the cluster's etcd", full)
		}
		ctx, cancel := context.WithTimeout(d.Conns.Waits(), declareTime)
		var err error
		if st.Features&stmt.MakesTable != 0 {
			err = d.Declarations.Redeclare(ctx, full, declared, empty, d.User)
		} else if err = d.Declarations.Withdraw(ctx, full, declared, d.User); err == nil {
			withdrawn[full] = empty
		}
		cancel()
		if err != nil {
			return fmt.Errorf("table %s: its declaration as a filled look-up table could not be changed: %w", full, err)
		}
		d.unindexed = append(d.unindexed, full)
	}
	if d.unindexed == nil {
		return nil
	}
	err := d.Settled(d.Conns.Waits(), catalog.Change{Declared: true})
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.Context), declareTime)
	defer cancel()
	for name, empty := range withdrawn {
		if _, again := d.Declarations.Declare(ctx, name, empty, d.User); again != nil {
			return fmt.Errorf("not every proxy knows that look-up table %s is dropped: %w; it is not declared any more: declare it by locus table add with the words %s, and repeat the statement", name, err, empty.Words())
		}
	}
	return fmt.Errorf("not every proxy knows that the look-up tables are not used any more: %w; they are declared as not filled: repeat the statement", err)
}
