package migrate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locus/migrate/link"
	"locus/router/cluster"
)

// orphaned returns the connections of the proxies' account that no live proxy has marked as its own. They
// belong to a proxy that is dead, or that is suspended and counts as dead. Its delayed statements must not
// arrive.
func orphaned(ctx context.Context, c *link.Conn, proxies map[string]int64) ([]uint64, error) {
	marks := []string{cluster.MarkedBy(link.Mark), cluster.MarkedBy(cluster.ConnectionMark(cluster.NoProxy))}
	for name := range proxies {
		marks = append(marks, cluster.MarkedBy(cluster.ConnectionMark(name)))
	}
	rows, err := c.Query(ctx, "SELECT p.ID FROM information_schema.PROCESSLIST p WHERE p.USER = SUBSTRING_INDEX(CURRENT_USER(), '@', 1)"+
		" AND p.COMMAND NOT LIKE 'Binlog Dump%' AND p.ID <> CONNECTION_ID() AND p.ID <> COALESCE("+strings.Join(marks, ", ")+", 0)")
	if err != nil {
		return nil, fmt.Errorf("look for connections of proxies that are gone: %w", err)
	}
	ids := make([]uint64, 0, len(rows))
	for _, row := range rows {
		id, err := strconv.ParseUint(string(row[0]), 10, 64)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// findOrphans records the live proxies and the orphaned connections before the fence.
func (h *handover) findOrphans(ctx context.Context) error {
	var err error
	if h.proxies, err = h.runner.Store.Proxies(ctx); err != nil {
		return err
	}
	if h.outside() { // no proxy connects there
		return nil
	}
	for _, p := range h.passes {
		if p.orphans, err = orphaned(ctx, p.atOld, h.proxies); err != nil {
			return err
		}
	}
	return nil
}

// endOrphans ends connections that were orphaned before the fence and still are. A new, unmarked connection
// belongs to a proxy that knows of the fence. If a proxy has disappeared since the step began, its connections
// were not orphaned then, and it may be only suspended: the step is given up. The given proxies are those that
// obey the fence.
func (h *handover) endOrphans(ctx context.Context, p *pass, proxies map[string]int64) error {
	for killed := false; ; killed = true {
		if name, gone := anyGone(h.proxies, proxies); gone {
			return fmt.Errorf("proxy %s has gone since the step began: its connections are ended before the next one", name)
		}
		if len(p.orphans) == 0 { // the usual case: one query less while statements are paused
			return nil
		}
		now, err := orphaned(ctx, p.atOld, proxies)
		if err != nil {
			return err
		}
		now = slices.DeleteFunc(now, func(id uint64) bool { return !slices.Contains(p.orphans, id) })
		if len(now) == 0 {
			return nil
		}
		if !killed {
			h.runner.Log.Warn("connections of proxies that are gone are ended", "job", h.job(), "shard", p.old.Addr, "connections", len(now))
		}
		if err := kill(ctx, p.atOld, now); err != nil {
			return err
		}
		if err := pause(ctx, fleetLook/10); err != nil {
			return fmt.Errorf("connections of proxies that are gone don't end: %w", context.Cause(ctx))
		}
		if proxies, err = h.runner.Store.Proxies(ctx); err != nil {
			return err
		}
	}
}

func kill(ctx context.Context, c *link.Conn, ids []uint64) error {
	for _, id := range ids {
		if _, err := c.Exec(ctx, "KILL CONNECTION "+strconv.FormatUint(id, 10)); err != nil && link.Code(err) != noSuchThread {
			return fmt.Errorf("end a connection of a proxy that is gone: %w", err)
		}
	}
	return nil
}

// anyGone returns the name of a proxy that was live before and is not now.
func anyGone(before, now map[string]int64) (name string, gone bool) {
	for name := range before {
		if _, there := now[name]; !there {
			return name, true
		}
	}
	return "", false
}

const noSuchThread = 1094
