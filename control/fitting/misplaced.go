package fitting

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"locus/migrate/audit"
	"locus/migrate/link"
	shape "locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
)

// misplaced reads every row of the sharded tables whose placement changes. It checks that the owner, the ID and
// the other keys of a row give the same gene, and that the shard owns this gene. Statements would not find the
// other rows. It returns one text per table and shard.
func (s *stranded) misplaced(c *catalog.Catalog, progress Progress) ([]string, error) {
	for _, t := range slices.Concat(c.Tables(), unmade(c)) { // tables without a gene column are checked by their owners only
		if t.Kind != catalog.Sharded || !s.placedAnew(t.TableName) {
			continue
		}
		for _, shard := range s.next.ShardNames() {
			what, err := s.misplacedOn(t, shard, progress)
			if err != nil {
				return nil, fmt.Errorf("check the rows of table %s: %w", t.TableName, err)
			}
			if what != "" {
				s.report("%s", what)
			}
		}
	}
	return s.found, nil
}

// misplacedOn describes the misplaced rows of a table on one shard; empty if there are none.
func (s *stranded) misplacedOn(t *catalog.Table, shard router.ShardName, progress Progress) (string, error) {
	homes, err := s.homes()
	if err != nil {
		return "", err
	}
	server, err := s.shards.Server(shard)
	if err != nil {
		return "", err
	}
	conn, err := link.Dial(s.ctx, server)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	seen, err := rowsOf(s.ctx, conn, server, t, shard, homes, progress)
	if err != nil {
		return "", err
	}
	rows, what := seen.Wrong(audit.Foreign(s.next.Routes, shard))
	if what == "" {
		return "", nil
	}
	text := fmt.Sprintf("table %s on %s has %s", t.TableName, shard, what)
	if strangers := seen.Strangers(); strangers > 0 {
		remedy, err := homes.Remedy(s.ctx, conn, t)
		if text += ": " + remedy; err != nil || strangers == rows {
			return text, err
		}
	}
	return text + ": by their owners or their IDs they would not be found; each must have keys of its owner's gene, and be on that gene's shard", nil
}

// homes returns the tables and shards that may have the parents of rows: all sharded tables on all shards.
func (s *stranded) homes() (audit.Homes, error) {
	h := audit.Homes{Spread: maps.Clone(s.next.Tables)}
	maps.DeleteFunc(h.Spread, func(_ catalog.TableName, d catalog.Declaration) bool { return d.Kind != catalog.Sharded })
	for _, name := range s.next.ShardNames() {
		at, err := s.shards.Server(name)
		if err != nil {
			return h, err
		}
		h.Shards = append(h.Shards, at)
	}
	return h, nil
}

func rowsOf(ctx context.Context, conn *link.Conn, server link.Server, t *catalog.Table, shard router.ShardName, homes audit.Homes, progress Progress) (*audit.Misplaced, error) {
	parents, closeAll, err := homes.Open(ctx, t, server)
	defer closeAll()
	if err != nil {
		return nil, err
	}
	rows := audit.Rows{Conn: conn, Table: t, Shard: shard, Parents: parents}
	// A table that can't be moved may still be declared. It is read in one pass.
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

// Server returns the address and the credentials of a shard, for a connection of the caller's own.
func (s *Shards) Server(name router.ShardName) (link.Server, error) {
	target := s.targets[name]
	password, err := target.Password()
	if err != nil {
		return link.Server{}, fmt.Errorf("shard %s: %w", name, err)
	}
	return link.Server{Addr: target.Addr, User: target.User, Password: password, TLS: target.ClientTLS()}, nil
}
