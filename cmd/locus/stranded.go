package main

import (
	"context"
	"fmt"
	"reflect"

	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/gene"
)

// findStranded looks for rows that the next cluster would no longer look for
// where they are, and describes one of each kind. What was in the wrong place
// before, as a move under way leaves it, is not searched for again.
func findStranded(ctx context.Context, asked *askedShards, c *catalog.Catalog, old, next *cluster.Cluster) ([]error, error) {
	s := stranded{ctx: ctx, asked: asked, old: old, next: next}
	if old != nil {
		s.handedOver(c)
		s.undeclared()
	}
	for _, t := range c.Tables() {
		s.placedAnew(t)
	}
	return s.found, s.err
}

type stranded struct {
	ctx       context.Context
	asked     *askedShards
	old, next *cluster.Cluster
	found     []error
	err       error // of a question; the first ends the search
}

func (s *stranded) report(format string, args ...any) {
	s.found = append(s.found, fmt.Errorf(format, args...))
}

// handedOver looks for rows of genes that change hands, on the shards that they
// leave.
func (s *stranded) handedOver(c *catalog.Catalog) {
	handovers, err := router.Diff(s.old.Routes, s.next.Routes)
	if err != nil {
		s.err = err
		return
	}
	for _, h := range handovers {
		for _, t := range c.Tables() {
			if t.Kind == catalog.Sharded {
				s.rows(t, h.From, h.Genes, fmt.Sprintf("genes %s go from %s to %s", h.Genes, h.From, h.To))
			}
		}
	}
}

func (s *stranded) rows(t *catalog.Table, shard router.ShardName, genes gene.Set, why string) {
	if s.err != nil || genes.Empty() {
		return
	}
	row, err := schema.Rows(s.ctx, s.asked.shard(shard), t, genes)
	if err != nil {
		s.err = err
		return
	}
	if row != nil {
		s.report("%s, and table %s on %s has rows of them (%s): move them with locus split or locus merge; "+
			"--force-move-without-data leaves them behind, invisible", why, t.TableName, shard, row)
	}
}

// placedAnew looks for rows of a table whose declaration says from now on where
// each belongs.
func (s *stranded) placedAnew(t *catalog.Table) {
	var before *catalog.Declaration
	if s.old != nil {
		if d, was := s.old.Tables[t.TableName]; was {
			before = &d
		}
	}
	if before != nil && samePlaces(*before, t.Declaration) {
		return
	}
	switch t.Kind {
	case catalog.Sharded:
		all := gene.NewSet(gene.All(s.next.Settings.GeneBits))
		for _, shard := range s.next.ShardNames() {
			foreign := all.Subtract(s.next.Routes.GenesOf(shard))
			s.rows(t, shard, foreign, fmt.Sprintf("genes %s are not %s's", shorten(foreign), shard))
		}
	case catalog.Single:
		s.elsewhere(t, before)
	case catalog.Global: // that all copies have the same rows isn't looked up
	}
}

// elsewhere looks for a single table's rows where they used to be.
func (s *stranded) elsewhere(t *catalog.Table, before *catalog.Declaration) {
	var places []router.ShardName
	switch {
	case before != nil && before.Kind == catalog.Sharded:
		places = s.old.ShardNames()
	case before != nil && before.Kind == catalog.Single:
		places = []router.ShardName{before.Shard}
	case before == nil && s.old != nil:
		places = []router.ShardName{s.old.Settings.DefaultShard}
	}
	for _, shard := range places {
		if shard == t.Shard || s.err != nil {
			continue
		}
		has, err := s.hasRows(t.TableName, shard)
		if err != nil {
			s.err = err
			return
		}
		if has {
			s.report("table %s is to be on %s alone, and %s has rows of it: move them first; "+
				"--force-move-without-data leaves them behind, invisible", t.TableName, t.Shard, shard)
		}
	}
}

// hasRows tells it also of a table that isn't there.
func (s *stranded) hasRows(name catalog.TableName, shard router.ShardName) (bool, error) {
	there, err := schema.Exists(s.ctx, s.asked.shard(shard), name)
	if err != nil || !there {
		return false, err
	}
	return schema.AnyRow(s.ctx, s.asked.shard(shard), name)
}

// undeclared looks for tables that nobody declares, when another shard gets them.
func (s *stranded) undeclared() {
	from, to := s.old.Settings.DefaultShard, s.next.Settings.DefaultShard
	if from == to || s.err != nil {
		return
	}
	names, err := schema.Undeclared(s.ctx, s.asked.shard(from), s.next)
	if err != nil {
		s.err = err
		return
	}
	if len(names) > 0 {
		s.report("default_shard goes from %s to %s, and %s has undeclared tables (%s, %d or more): declare or move them; "+
			"--force-move-without-data leaves them behind, invisible", from, to, from, names[0], len(names))
	}
}

// samePlaces tells whether two declarations look for each row in the same place.
func samePlaces(a, b catalog.Declaration) bool {
	a.Version, b.Version = "", ""
	a.OrderNumber, b.OrderNumber = "", ""
	return reflect.DeepEqual(a, b)
}

// shorten keeps sets of many ranges from filling the line.
func shorten(s gene.Set) string {
	text := s.String()
	if len(text) > 60 {
		return fmt.Sprintf("%.50s… (%d)", text, s.Len())
	}
	return text
}
