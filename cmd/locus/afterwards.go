package main

import (
	"context"
	"fmt"
	"strings"

	"locus/control/fitting"
	"locus/control/ops"
	"locus/control/owngene"
	"locus/router"
	"locus/router/cluster"
)

// afterwards searches again for rows that were left behind. A proxy that had not yet read the changed map or
// tables may have inserted a row by the old ones, after the shards were checked. So the shards are checked once
// more after every proxy obeys the new map and no older statement is running.
func (a *application) afterwards(ctx context.Context, conn *connection, old, next *cluster.Cluster) error {
	if old == nil || a.skipLiveCheck || a.forceMove {
		return nil
	}
	handovers, err := router.Diff(old.Routes, next.Routes)
	if err != nil || len(handovers) == 0 && len(cluster.RelocatedTables(old, next)) == 0 {
		return err
	}
	if err := ops.AwaitMap(ctx, conn.kv, next.Routes.Version()); err != nil {
		return fmt.Errorf("the change was written, but %w; until then rows may still be inserted by the old map: "+
			"look for them once the proxies have followed or are gone", err)
	}
	shards, err := ask(conn, old, next)
	if err != nil {
		return err
	}
	defer shards.Close(ctx)
	if err := owngene.Make(ctx, shards.Of(next), next); err != nil { // for rows that were inserted meanwhile
		return fmt.Errorf("the change was written, but %w", err)
	}
	change := fitting.Change{Old: old, Next: next, Shards: shards}
	loaded, err := change.Load(ctx)
	if err != nil {
		return fmt.Errorf("the change was written, but the shards could not be asked again whether rows stayed behind: %w", err)
	}
	stranded, err := change.Stranded(ctx, loaded)
	if stranded == nil {
		return err
	}
	return fmt.Errorf("the change was written, and clients inserted rows meanwhile that are now looked for on other shards:\n%s\n"+
		"apply the former routes and tables, then move these rows and apply again", strings.Join(stranded, "\n"))
}
