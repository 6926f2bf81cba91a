package session

import (
	"locus/idgen/gene"
	"locus/proxy/exec"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// A transaction sees a shard's rows as they were when it first read there. Rows that a move or an import has brought to the shard since,
// it would miss, though they had been committed long before: so it is refused to read them, and may begin again.

// seesGenes refuses a statement in a transaction if it may concern genes that came to a shard after the transaction had joined there.
func (s *Session) seesGenes(r *exec.Work, meets func(gene.Set) bool) error {
	for shard, then := range s.conns.Earlier() {
		if then.Map != r.Snapshot.Map && meets(r.Snapshot.Map.Gained(then.Map, shard)) {
			return s.unseen(shard)
		}
	}
	return nil
}

// readsLatest tells a statement that sees each row as it is now: it changes or locks rows.
func readsLatest(st *stmt.Statement) bool {
	switch st.Kind {
	case stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete:
		return true
	case stmt.Select:
		return st.Features&stmt.Locking != 0 && len(st.Blocks) == 1 // what a subquery reads it does not lock
	default:
		return false
	}
}

// seesTables is seesGenes of tables that were declared otherwise when the transaction joined: an import has brought their rows since, or
// taken them back.
func (s *Session) seesTables(r *exec.Work) error {
	for shard, then := range s.conns.Earlier() {
		if then.Catalog == r.Snapshot.Catalog {
			continue
		}
		for _, t := range plan.TablesOf(r.Facts.Statement) {
			if name := s.env.FullName(r, t); locationOf(then.Catalog, name) != locationOf(r.Snapshot.Catalog, name) {
				return s.unseen(shard)
			}
		}
	}
	return nil
}

// location is where a table's rows are, as far as its declaration tells; and what a view reads that is planned as its text. What nobody
// declares is on the default shard: that an import declares it there, as its first step, moves no row.
type location struct {
	kind  catalog.Kind
	shard router.ShardName
	view  string
}

func locationOf(c *catalog.Catalog, name catalog.TableName) location {
	d, ok := c.Declared(name)
	if !ok {
		return location{kind: catalog.Single, shard: c.First(), view: c.Derived(name)}
	}
	return location{kind: d.Kind, shard: d.Shard}
}

// unseen rolls the transaction back, as servers do after a deadlock.
func (s *Session) unseen(shard router.ShardName) error {
	return s.rollBackAsDeadlock("rows that it concerns came to shard %s after the transaction had begun there, and it would not see all of them; the transaction was rolled back", shard)
}
