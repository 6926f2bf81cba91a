package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"locus/control/fitting"
	"locus/control/fleet"
	"locus/control/owngene"
	"locus/router"
	"locus/router/cluster"
)

// acknowledgement bounds the wait for the proxies after a change of the map.
const acknowledgement = 15 * time.Second

// afterwards looks again for rows that were left behind. A proxy that had not yet
// heard of a change of the map or of tables may have let a client insert a row by what
// stood before, after the shards were asked; so once every proxy obeys the new map, and has
// nothing older under way, they are asked once more.
func (a *application) afterwards(ctx context.Context, conn *connection, old, next *cluster.Cluster) error {
	if old == nil || a.skipLiveCheck || a.forceMove {
		return nil
	}
	handovers, err := router.Diff(old.Routes, next.Routes)
	if err != nil || len(handovers) == 0 && len(cluster.RelocatedTables(old, next)) == 0 {
		return err
	}
	if err := awaitProxies(ctx, conn, next.Routes.Version()); err != nil {
		return fmt.Errorf("the change was written, but %w; until then rows may still be inserted by the old map: "+
			"look for them once the proxies have followed or are gone", err)
	}
	shards, err := ask(conn, old, next)
	if err != nil {
		return err
	}
	defer shards.Close(ctx)
	if err := owngene.Make(ctx, shards.Of(next), next); err != nil { // of rows that were inserted meanwhile
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

// awaitProxies waits until every registered proxy obeys a version of the map.
func awaitProxies(ctx context.Context, conn *connection, version int64) error {
	ctx, cancel := context.WithTimeout(ctx, acknowledgement)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		behind, err := proxiesBehind(ctx, conn, version)
		if err == nil && behind == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("not every proxy obeys map version %d yet: %s", version, strings.Join(behind, ", ")))
		case <-ticker.C:
		}
	}
}

func proxiesBehind(ctx context.Context, conn *connection, version int64) ([]string, error) {
	cards, err := fleet.Cards(ctx, conn.kv)
	if err != nil {
		return nil, err
	}
	var behind []string
	for _, c := range cards {
		if c.MapVersion < version {
			behind = append(behind, c.ID)
		}
	}
	return behind, nil
}
