package fitting

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"locus/idgen/gene"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// find searches for rows that statements would no longer find after the change, and returns one text per table
// and shard. It ignores rows that were misplaced before, such as the copies of a running move.
func (s *stranded) find(c *catalog.Catalog) ([]string, error) {
	for _, t := range c.Tables() {
		if s.placedAnew(t.TableName) {
			s.table(t)
		}
	}
	if s.old != nil {
		s.handedOver(c)
		s.abandoned()
		s.undeclared()
		s.beginners()
	}
	return s.found, s.err
}

type stranded struct {
	ctx       context.Context
	shards    *Shards
	old, next *cluster.Cluster // old is nil for the first declaration
	found     []string
	err       error // the first error of a query; it ends the search
}

func (s *stranded) report(format string, args ...any) {
	s.found = append(s.found, fmt.Sprintf(format, args...))
}

// placedAnew reports whether a declared table's rows get other places than before. Genes that change their
// shard don't count.
func (s *stranded) placedAnew(name catalog.TableName) bool {
	return s.old == nil || slices.Contains(cluster.RelocatedTables(s.old, s.next), name)
}

// table checks all rows of a table whose placement changes.
func (s *stranded) table(t *catalog.Table) {
	switch t.Kind {
	case catalog.Sharded:
		all := gene.NewSet(gene.All(s.next.Settings.GeneBits))
		for _, shard := range s.next.ShardNames() {
			foreign := all.Subtract(s.next.Routes.GenesOf(shard))
			s.rows(t, shard, foreign, fmt.Sprintf("genes %s are not %s's", shorten(foreign), shard))
		}
	case catalog.Single:
		s.only(t.TableName, t.Shard, fmt.Sprintf("is to be on %s alone", t.Shard))
	case catalog.Global:
		s.everywhere(t.TableName)
	case catalog.Outside: // the rows on the shards are copies of a running import
	}
}

// handedOver searches for rows of genes that change their shard, on the shard that loses the gene.
func (s *stranded) handedOver(c *catalog.Catalog) {
	handovers, err := router.Diff(s.old.Routes, s.next.Routes)
	if err != nil {
		s.err = err
		return
	}
	for _, h := range handovers {
		for _, t := range c.Tables() {
			if t.Kind == catalog.Sharded && !s.placedAnew(t.TableName) {
				s.rows(t, h.From, h.Genes, fmt.Sprintf("genes %s go from %s to %s", shorten(h.Genes), h.From, h.To))
			}
		}
	}
}

func (s *stranded) rows(t *catalog.Table, shard router.ShardName, genes gene.Set, why string) {
	if s.err != nil || genes.Empty() {
		return
	}
	row, err := schema.Rows(s.ctx, s.shards.shard(shard), t, genes)
	if err != nil {
		s.err = err
		return
	}
	if row != nil {
		s.report("%s, and table %s on %s has rows of them (%s)", why, t.TableName, shard, row)
	}
}

// abandoned checks tables that are no longer declared. Afterwards, statements use them only on the default
// shard.
func (s *stranded) abandoned() {
	for _, name := range s.old.TableNames() {
		if _, stays := s.next.Tables[name]; !stays {
			shard := s.next.Settings.DefaultShard
			s.only(name, shard, fmt.Sprintf("is no longer declared, so it is on %s alone", shard))
		}
	}
}

// only searches for rows of a table on shards other than the remaining one. If the table was global, the
// remaining shard has all rows.
func (s *stranded) only(name catalog.TableName, place router.ShardName, why string) {
	var places []router.ShardName
	if s.old != nil {
		switch before, was := s.old.Tables[name]; {
		case !was:
			places = []router.ShardName{s.old.Settings.DefaultShard}
		case before.Kind == catalog.Sharded:
			places = s.old.ShardNames()
		case before.Kind == catalog.Single:
			places = []router.ShardName{before.Shard}
		}
	}
	for _, shard := range places {
		if shard != place && s.hasRows(name, shard) {
			s.report("table %s %s, and %s has rows of it", name, why, shard)
		}
	}
}

// everywhere reports a table that becomes global and has rows on some shards but not on others. It does not
// compare the rows.
func (s *stranded) everywhere(name catalog.TableName) {
	var with, without []string
	for _, shard := range s.next.ShardNames() {
		if s.hasRows(name, shard) {
			with = append(with, string(shard))
		} else {
			without = append(without, string(shard))
		}
	}
	if s.err == nil && with != nil && without != nil {
		s.report("table %s is to have the same rows everywhere, and has some on %s and none on %s",
			name, strings.Join(with, ", "), strings.Join(without, ", "))
	}
}

// hasRows reports whether a table has rows on a shard; false if the shard lacks the table.
func (s *stranded) hasRows(name catalog.TableName, shard router.ShardName) bool {
	if s.err != nil {
		return false
	}
	q := s.shards.shard(shard)
	there, err := schema.Exists(s.ctx, q, name)
	if err == nil && there {
		there, err = schema.AnyRow(s.ctx, q, name)
	}
	s.err = err
	return there && err == nil
}

// undeclared searches for undeclared tables on the old default shard if the default shard changes.
func (s *stranded) undeclared() {
	from, to := s.old.Settings.DefaultShard, s.next.Settings.DefaultShard
	if from == to || s.err != nil {
		return
	}
	names, err := schema.Undeclared(s.ctx, s.shards.shard(from), s.next)
	if err != nil {
		s.err = err
		return
	}
	if len(names) > 0 {
		s.report("default_shard goes from %s to %s, and %s has tables that are not declared, such as %s", from, to, from, names[0])
	}
}

// shorten limits the text of sets with many ranges.
func shorten(genes gene.Set) string {
	text := genes.String()
	if len(text) > 60 {
		return fmt.Sprintf("%.50s… (%d)", text, genes.Len())
	}
	return text
}
