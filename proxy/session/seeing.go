package session

import (
	"locus/idgen/gene"
	"locus/proxy/exec"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// A transaction sees a shard's rows as of its first read there. It would miss rows that a move or an import has brought to the
// shard since then, although they had been committed long before. So a statement that may read such rows is refused, and its
// transaction is rolled back for a repetition.

// refuseUnseenGenes refuses a statement in a transaction if it may concern genes that came to a shard after the transaction had
// joined there.
func (s *Session) refuseUnseenGenes(r *exec.Execution, meets func(gene.Set) bool) error {
	for shard, then := range s.conns.Earlier() {
		if then.Map != r.Snapshot.Map && meets(r.Snapshot.Map.Gained(then.Map, shard)) {
			return s.rollBackUnseen(shard)
		}
	}
	return nil
}

// readsLatest reports whether a statement sees the latest version of each row because it changes or locks the rows.
func readsLatest(st *stmt.Statement) bool {
	switch st.Kind {
	case stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete:
		return true
	case stmt.Select:
		return st.Features&stmt.Locking != 0 && len(st.Blocks) == 1 // a subquery does not lock the rows that it reads
	default:
		return false
	}
}

// refuseUnseenTables is refuseUnseenGenes for tables whose declaration has changed since the transaction joined. An import has
// brought their rows since, or has moved them back.
func (s *Session) refuseUnseenTables(r *exec.Execution) error {
	for shard, then := range s.conns.Earlier() {
		if then.Catalog == r.Snapshot.Catalog {
			continue
		}
		for _, t := range plan.TablesOf(r.Facts.Statement) {
			if name := r.FullName(t); locationOf(then.Catalog, name) != locationOf(r.Snapshot.Catalog, name) {
				return s.rollBackUnseen(shard)
			}
		}
	}
	return nil
}

// location is the place of a table's rows according to its declaration. view is the query of a view that is planned as its text.
// An undeclared table is on the default shard. If an import declares it there as its first step, no row moves.
type location struct {
	kind  catalog.Kind
	shard router.ShardName
	view  string
}

// locationOf returns a table's location in a catalog.
func locationOf(c *catalog.Catalog, name catalog.TableName) location {
	d, ok := c.Declared(name)
	if !ok {
		return location{kind: catalog.Single, shard: c.First(), view: c.Derived(name)}
	}
	return location{kind: d.Kind, shard: d.Shard}
}

// rollBackUnseen rolls the transaction back, as servers do after a deadlock, and returns the error.
func (s *Session) rollBackUnseen(shard router.ShardName) error {
	return s.rollBackAsDeadlock("rows that it concerns came to shard %s after the transaction had begun there, and it would not see all of them; the transaction was rolled back", shard)
}
