package fitting

import (
	"context"
	"fmt"
	"slices"

	"locus/migrate/audit"
	"locus/migrate/link"
	shape "locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
)

// misplaced looks at every row of sharded tables that are placed anew: whether its
// owner, its ID and what else will tell its gene agree, and whether that gene is the
// shard's. Such rows would not be found. It gives one text per table and shard.
func (s *stranded) misplaced(c *catalog.Catalog, progress Progress) ([]string, error) {
	for _, t := range slices.Concat(c.Tables(), unmade(c)) { // those by their owners alone
		if t.Kind != catalog.Sharded || !s.placedAnew(t.TableName) {
			continue
		}
		for _, shard := range s.next.ShardNames() {
			seen, err := s.shards.rowsOf(s.ctx, t, shard, progress)
			if err != nil {
				return nil, fmt.Errorf("look at the rows of table %s: %w", t.TableName, err)
			}
			if _, what := seen.Wrong(audit.Foreign(s.next.Routes, shard)); what != "" {
				s.report("table %s on %s has %s: by their owners or their IDs they would not be found; each must have keys of its owner's gene, and be on that gene's shard", t.TableName, shard, what)
			}
		}
	}
	return s.found, nil
}

func (s *Shards) rowsOf(ctx context.Context, t *catalog.Table, shard router.ShardName, progress Progress) (*audit.Misplaced, error) {
	server, err := s.Server(shard)
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
	if progress != nil {
		told, done := progress(t.TableName, shard)
		defer done()
		rows.Progress = told
	}
	return rows.Look(ctx)
}

// Server is how a shard is logged in to for more than a question.
func (s *Shards) Server(name router.ShardName) (link.Server, error) {
	target := s.targets[name]
	password, err := target.Password()
	if err != nil {
		return link.Server{}, fmt.Errorf("shard %s: %w", name, err)
	}
	return link.Server{Addr: target.Addr, User: target.User, Password: password, TLS: target.ClientTLS()}, nil
}
