package main

import (
	"context"
	"fmt"

	"locus/control/watch"
	"locus/migrate/audit"
	"locus/migrate/link"
	shape "locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// findMisplaced looks at every row of sharded tables that are placed anew: whether its
// owner, its ID and what else will tell its gene agree, and whether that gene is the
// shard's. Such rows would not be found. It gives one text per table and shard.
func (a *application) findMisplaced(ctx context.Context, asked *askedShards, c *catalog.Catalog, old, next *cluster.Cluster) ([]string, error) {
	s := stranded{old: old, next: next}
	for _, t := range c.Tables() {
		if t.Kind != catalog.Sharded || !s.placedAnew(t.TableName) {
			continue
		}
		for _, shard := range next.ShardNames() {
			seen, err := a.rowsOf(ctx, asked, t, shard)
			if err != nil {
				return nil, fmt.Errorf("look at the rows of table %s: %w", t.TableName, err)
			}
			if _, what := seen.Wrong(audit.Foreign(next.Routes, shard)); what != "" {
				s.report("table %s on %s has %s: by their owners or their IDs they would not be found; each must have keys of its owner's gene, and be on that gene's shard", t.TableName, shard, what)
			}
		}
	}
	return s.found, nil
}

func (a *application) rowsOf(ctx context.Context, asked *askedShards, t *catalog.Table, shard router.ShardName) (*audit.Misplaced, error) {
	server, err := asked.server(shard)
	if err != nil {
		return nil, err
	}
	conn, err := link.Dial(ctx, server)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	rows := audit.Rows{Conn: conn, Table: t, Shard: shard}
	// A table that can't be moved may still be declared: it is read in one go then.
	if rows.Walk, err = shape.Read(ctx, conn, t.TableName, t.Declaration, t.Width); err != nil {
		rows.Walk = nil
	}
	if isTerminal(a.in.stderr) {
		rows.Progress = func(rows uint64) {
			fmt.Fprintf(a.in.stderr, "\r\x1b[K%s on %s: %s rows", t.TableName, shard, watch.Count(int64(rows)))
		}
		defer fmt.Fprint(a.in.stderr, "\r\x1b[K")
	}
	return rows.Look(ctx)
}

// server is how a shard is logged in to for more than a question.
func (s *askedShards) server(name router.ShardName) (link.Server, error) {
	target := s.targets[name]
	password, err := target.Password()
	if err != nil {
		return link.Server{}, fmt.Errorf("shard %s: %w", name, err)
	}
	return link.Server{Addr: target.Addr, User: target.User, Password: password, TLS: target.ClientTLS()}, nil
}
