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

// misplaced looks at every row of sharded tables that are placed anew: whether its
// owner, its ID and what else will tell its gene agree, and whether that gene is the
// shard's. Such rows would not be found. It gives one text per table and shard.
func (s *stranded) misplaced(c *catalog.Catalog, progress Progress) ([]string, error) {
	for _, t := range slices.Concat(c.Tables(), unmade(c)) { // those by their owners alone
		if t.Kind != catalog.Sharded || !s.placedAnew(t.TableName) {
			continue
		}
		for _, shard := range s.next.ShardNames() {
			what, err := s.misplacedOn(t, shard, progress)
			if err != nil {
				return nil, fmt.Errorf("look at the rows of table %s: %w", t.TableName, err)
			}
			if what != "" {
				s.report("%s", what)
			}
		}
	}
	return s.found, nil
}

// misplacedOn describes the rows of one shard that would not be found there; empty: there are none.
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

// homes returns where parents may be: in any sharded table, on any shard.
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
