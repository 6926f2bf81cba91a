package ddl

import (
	"context"
	"fmt"

	"locus/router/catalog"
	"locus/router/stmt"
)

// unindex makes the cluster stop using look-up tables that are about to be dropped, or created without their entries. It withdraws the
// declarations of those that are dropped. Other sessions write and use their entries until all proxies know that.
func (d *definition) unindex() error {
	err := d.withdrawLookups()
	if err == nil && d.unindexed != nil {
		if err = d.Settled(d.Conns.Waits(), catalog.Change{Declared: true}); err != nil {
			err = fmt.Errorf("not every proxy knows that the look-up tables are not used any more: %w", err)
		}
	}
	if err != nil {
		return with(err, d.reindex(), false)
	}
	return nil
}

func (d *definition) withdrawLookups() error {
	makes := d.Facts.Statement.Features&stmt.MakesTable != 0
	names := d.Facts.Statement.Dropped
	if makes && len(d.Facts.Statement.Tables) > 0 {
		names = d.Facts.Statement.Tables[:1]
	}
	for _, name := range names {
		full := d.FullName(name)
		declared, is := d.catalog.Declared(full)
		if !is || declared.Lookup == nil || makes && (!declared.Lookup.Kept && !declared.Lookup.Filled || d.madeEverywhere()) {
			continue
		}
		if d.Declarations == nil || d.Settled == nil {
			return undeclarable("nothing can be declared through this proxy, and table %s contains the entries of a look-up index: use a proxy that has the cluster's etcd", full)
		}
		empty := declared
		empty.Lookup = &catalog.LookupOf{Table: declared.Lookup.Table, Column: declared.Lookup.Column}
		ctx, cancel := context.WithTimeout(d.Conns.Waits(), declareTime)
		var err error
		if makes {
			err = d.Declarations.Redeclare(ctx, full, declared, empty, d.User)
		} else if err = d.Declarations.Withdraw(ctx, full, declared, d.User); err == nil {
			d.withdrawn[full] = empty
		}
		cancel()
		if err != nil {
			return fmt.Errorf("table %s: its declaration as a look-up table could not be changed: %w", full, err)
		}
		d.unindexed = append(d.unindexed, full)
	}
	return nil
}

// reindex declares look-up tables again that were withdrawn and could not be dropped, so that the statement can be repeated.
// They are not declared as filled, because entries may be missing. It returns a text for the error of the definition.
func (d *definition) reindex() (left string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.Context), declareTime)
	defer cancel()
	for name, empty := range d.withdrawn {
		changed, err := d.Declarations.Declare(ctx, name, empty, d.User)
		switch {
		case err != nil:
			left += fmt.Sprintf("; look-up table %s may not be declared any more (%v): declare it by locus table add with the words %s, and repeat the statement", name, err, empty.Words())
		case changed:
			left += fmt.Sprintf("; look-up table %s is not used any more, and stays declared: repeat the statement", name)
		}
	}
	if left != "" {
		_ = d.Redefined(ctx, catalog.Change{Declared: true}) // otherwise the proxies find it when they poll
	}
	return left
}
