package exec

import (
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/gene"
	"locus/proxy/observe"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Admit admits a statement that concerns the given genes, or every gene if all is set. If a step of a move holds some of them, it
// returns a [fence.HeldError]. shards are the shards on which the statement runs. They are used only while genes are divided
// between shards.
func (x *Execution) Admit(genes []gene.Gene, all bool, shards []int) (err error) {
	x.MoveOutcome = observe.MoveOutcome{}
	concerned := genes
	if x.mayConcernImport() {
		concerned = append(slices.Clip(genes), router.Unsharded)
	}
	if x.Admission, err = x.Gate.Admit(x.Snapshot.Map, concerned, all, x.Conns.Running()); err != nil {
		return err
	}
	if x.Moving && !all && len(genes) > 0 {
		x.MoveOutcome.Begin(x.Snapshot.Map, genes, shards)
	}
	return nil
}

// AdmitUnsharded admits a statement that concerns no sharded rows.
func (x *Execution) AdmitUnsharded() error {
	if x.mayConcernImport() {
		if err := x.Admit(nil, false, nil); err != nil {
			return err
		}
		return x.refuseRedefinition()
	}
	x.Gate.ConcernsNone(x.Snapshot.Map)
	return nil
}

// admitRoute admits a statement that was routed.
func (x *Execution) admitRoute() error {
	x.Observer.CountGenes(x.Snapshot.Map, x.route.Genes, x.route.Named())
	if !readsLatest(x.Facts.Statement) {
		if err := x.refuseUnseenGenes(x.route.Meets); err != nil {
			return err
		}
	}
	if moving := x.Snapshot.Map.Moving(); !moving.Empty() {
		return x.Admit(x.route.Genes, !x.route.Named() && x.route.Meets(moving), x.route.Shards)
	}
	return nil
}

// RollBackAsDeadlock rolls the transaction back, as MySQL does after a deadlock. It returns MySQL's error for a transaction that
// lost to another one. Applications repeat such a transaction.
func (e *Engine) RollBackAsDeadlock(format string, args ...any) error {
	e.Conns.RollBack()
	deadlock := wire.Errorf(mysql.ER_LOCK_DEADLOCK, "40001", format, args...)
	deadlock.Message += "; try restarting transaction"
	return deadlock
}

// mayConcernImport reports whether a statement may read or write tables that an import shards, or has sharded and may still roll
// back. Statements that could reach such tables indirectly count too: through views, triggers and routines, or because no parser
// reads the statement.
func (x *Execution) mayConcernImport() bool {
	if x.Snapshot.Map.Importing() == nil {
		return false
	}
	st := x.Facts.Statement
	switch st.Kind {
	case stmt.Begin, stmt.Commit, stmt.Rollback, stmt.Savepoint, stmt.ShowWarnings, stmt.Unlock, stmt.Use, stmt.Kill, stmt.Diagnose, stmt.Procedure:
		return false
	case stmt.XA: // the statements of its transaction are checked one by one
		return false
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete, stmt.Set:
	default:
		return true
	}
	return st.Features&stmt.UnknownFunction != 0 || slices.ContainsFunc(plan.TablesOf(st), func(name stmt.TableName) bool {
		return x.mayReachImport(name)
	})
}

// refuseRedefinition refuses to change the definition of tables that are imported. The import follows their rows under the
// definition that it has read.
func (x *Execution) refuseRedefinition() error {
	st := x.Facts.Statement
	if st.Kind != stmt.DDL || st.Features&stmt.TemporaryTable != 0 {
		return nil
	}
	if slices.ContainsFunc(st.Tables, func(name stmt.TableName) bool { return x.isImported(x.FullName(name)) }) {
		return plan.DisturbsMove("changing the definition of a table that is imported")
	}
	return nil
}

// isImported reports whether an import shards the table.
func (x *Execution) isImported(name catalog.TableName) bool {
	return slices.ContainsFunc(x.Snapshot.Map.Importing(), func(t string) bool { return strings.EqualFold(t, name.String()) })
}

// mayReachImport reports whether a statement that names the table may read or write an imported one. An undeclared table may be a
// view, or may have triggers.
func (x *Execution) mayReachImport(name stmt.TableName) bool {
	full := x.FullName(name)
	if x.isImported(full) {
		return true
	}
	if t, err := x.Snapshot.Catalog.Find(full); err == nil && t != nil && t.Kind != catalog.Single {
		return false // a declared table that is not imported
	}
	return !x.Snapshot.Catalog.Alone(full)
}

// A transaction sees a shard's rows as of its first read there. It would miss rows that a move or an import has brought to the
// shard since then, although they had been committed long before. So a statement that may read such rows is refused, and its
// transaction is rolled back for a repetition.

// refuseUnseenGenes refuses a statement in a transaction if it may concern genes that came to a shard after the transaction had
// joined there.
func (x *Execution) refuseUnseenGenes(meets func(gene.Set) bool) error {
	for shard, then := range x.Conns.Earlier() {
		if then.Map != x.Snapshot.Map && meets(x.Snapshot.Map.Gained(then.Map, shard)) {
			return x.rollBackUnseen(shard)
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

// RefuseUnseenTables is refuseUnseenGenes for tables whose declaration has changed since the transaction joined. An import has
// brought their rows since, or has moved them back.
func (x *Execution) RefuseUnseenTables() error {
	for shard, then := range x.Conns.Earlier() {
		if then.Catalog == x.Snapshot.Catalog {
			continue
		}
		for _, t := range plan.TablesOf(x.Facts.Statement) {
			if name := x.FullName(t); locationOf(then.Catalog, name) != locationOf(x.Snapshot.Catalog, name) {
				return x.rollBackUnseen(shard)
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
func (e *Engine) rollBackUnseen(shard router.ShardName) error {
	return e.RollBackAsDeadlock("rows that it concerns came to shard %s after the transaction had begun there, and it would not see all of them; the transaction was rolled back", shard)
}

// PollUnlike polls the shards if their answers had different columns. The table may be in the process of being altered on one
// shard after the other. pollUnlike reports whether the tables are known to differ from those for which the statement was
// planned.
func (x *Execution) PollUnlike(why *plan.Refusal) bool {
	others := func() bool { return x.Current().Catalog != x.Snapshot.Catalog }
	if !why.ColumnsDiffer || x.Unlisted == nil || others() {
		return why.ColumnsDiffer && others()
	}
	_ = x.Unlisted(x.Interrupts.Waits(), true)
	return others()
}
