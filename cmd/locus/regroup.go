package main

import (
	"context"
	"fmt"

	"locus/control/ops"
	"locus/router/cluster"
)

// regroup sets the declared number of groups of the counters of every table's IDs. Each apply repeats it, and
// so completes one that failed before its end.
func (a *application) regroup(ctx context.Context, conn *connection, c *cluster.Cluster) error {
	if a.dryRun {
		return nil
	}
	list, err := a.in.opsOf(conn).Regroup(ctx, c, a.stamp().By)
	a.printRegrouped(list)
	return err
}

// printRegrouped prints the counters whose number of groups has changed.
func (a *application) printRegrouped(list []ops.Regrouped) {
	if a.in.output != table {
		return
	}
	for _, r := range list {
		fmt.Fprintf(a.in.stdout, "counters of %s: %d groups, were %d\n", r.Counter, r.Now, r.Was)
	}
}
