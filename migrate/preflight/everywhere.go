package preflight

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"locus/idgen/gene"
	"locus/migrate/copies"
	"locus/migrate/link"
	"locus/router"
	"locus/router/catalog"
)

// Everywhere describes the objects that a shard must have, in addition to the moving rows, before it serves statements on its
// new genes.
type Everywhere struct {
	// First is the shard whose global tables and views are the reference.
	First link.Server
	// FirstShard and Shard are the names of the first shard and of the target.
	FirstShard, Shard router.ShardName
	// Tables holds all declared tables.
	Tables map[catalog.TableName]catalog.Declaration
	// Imported holds the tables of an import from the first shard. The import creates the views over them on
	// the other shards. nil if there is no import.
	Imported map[catalog.TableName]catalog.Declaration
}

// LookAtCopies runs only the check of global tables and views, for a server that is to own genes.
func LookAtCopies(ctx context.Context, target link.Server, width gene.Width, e *Everywhere) ([]Problem, error) {
	i := &inspection{ctx: ctx, config: Config{Target: target, Width: width, Everywhere: e}, check: "everywhere"}
	err := i.everywhere()
	return i.report.Problems, err
}

// everywhere checks that the target has the views and the global rows of the first shard. Otherwise statements
// that read or join them would return wrong results there. A running job skips the check, because writes to
// global tables then go to the target as well.
func (i *inspection) everywhere() error {
	e := i.config.Everywhere
	if e == nil || e.FirstShard == e.Shard || i.config.Resumed {
		return nil
	}
	first, err := link.Dial(i.ctx, e.First)
	if err != nil {
		return fmt.Errorf("shard %s: %w", e.FirstShard, err)
	}
	defer first.Close()
	target, err := link.Dial(i.ctx, i.config.Target)
	if err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	defer target.Close()
	for _, name := range slices.SortedFunc(maps.Keys(e.Tables), catalog.TableName.Compare) {
		if e.Tables[name].Kind != catalog.Global {
			continue
		}
		if err := i.globalTable(i.ctx, first, target, name); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	if err := i.views(first, target); err != nil {
		return err
	}
	return i.viewsToCome(first, target)
}

// viewsToCome checks for obstacles to creating the views over an import's tables on the target.
func (i *inspection) viewsToCome(first, target *link.Conn) error {
	e := i.config.Everywhere
	if len(e.Imported) == 0 {
		return nil
	}
	after := maps.Clone(e.Tables)
	maps.Copy(after, e.Imported)
	names, err := copies.ViewsOver(i.ctx, first, after, e.Imported)
	if err != nil || len(names) == 0 {
		return err
	}
	here, err := copies.Queries(i.ctx, first)
	if err != nil {
		return err
	}
	there, err := copies.Queries(i.ctx, target)
	if err != nil {
		return err
	}
	for _, name := range names {
		query, has := there[name]
		if has && (query == here[name] || first.Version() != target.Version()) {
			continue
		}
		rows, err := target.Query(i.ctx, "SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+link.Text(name.Schema)+" AND TABLE_NAME = "+link.Text(name.Name))
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			i.problem(fmt.Sprintf("drop it on %s if nothing needs it, or rename it", e.Shard),
				"the target has another table or view %s, in whose place the import makes the view of %s over its tables", name, e.FirstShard)
		}
	}
	return nil
}

// filled returns the command that gives a shard the global rows of the first one.
func (e *Everywhere) filled() string { return fmt.Sprintf("locus shard fill %s", e.Shard) }

func (i *inspection) globalTable(ctx context.Context, first, target *link.Conn, name catalog.TableName) error {
	e := i.config.Everywhere
	p, err := copies.Read(ctx, first, target, name, e.Tables[name], i.config.Width)
	if _, unreadable := errors.AsType[*copies.UnreadableError](err); unreadable {
		same, err := copies.Counted(ctx, first, target, name)
		if err == nil && !same {
			i.problem(fmt.Sprintf("copy its rows from %s while no client writes them, or give it a primary key", e.FirstShard),
				"global table %s has another number of rows on the target than on %s", name, e.FirstShard)
		}
		return err
	}
	if _, missing := errors.AsType[*copies.MissingError](err); missing {
		if there, err := copies.Has(ctx, first, name); err != nil || !there {
			return err // the table is declared, but the first shard does not have it
		}
		i.problem(e.filled()+" makes it, with its rows", "the target does not have global table %s", name)
		return nil
	}
	if _, misfits := errors.AsType[*copies.MisfitError](err); misfits {
		i.problem("make both tables the same (SHOW CREATE TABLE)", "global table %s has other columns on the target than on %s, or another primary key", name, e.FirstShard)
		return nil
	}
	if err != nil {
		return err
	}
	found, err := p.Compare(ctx, 0)
	switch {
	case err != nil:
		return err
	case len(found.Keys) > 0:
		i.problem(e.filled()+" if the target owns no genes yet; locus verify lists what differs",
			"global table %s has other rows on the target than on %s, such as %s: they would be read and joined there", name, e.FirstShard, found.Keys[0].Short())
	case found.Unsettled > 0:
		i.problem("try again", "global table %s can't be compared with that on %s: transactions hold its rows for long", name, e.FirstShard)
	}
	return nil
}

// views reports views that the target lacks, or has with another definition. Servers of different versions
// print queries differently.
func (i *inspection) views(first, target *link.Conn) error {
	e := i.config.Everywhere
	names, err := copies.Views(i.ctx, first, e.Tables)
	if err != nil {
		return err
	}
	here, err := copies.Queries(i.ctx, first)
	if err != nil {
		return err
	}
	there, err := copies.Queries(i.ctx, target)
	if err != nil {
		return err
	}
	for _, name := range names {
		switch query, has := there[name]; {
		case !has:
			i.problem(e.filled()+" makes it", "the target does not have view %s, which reads tables of every shard", name)
		case query != here[name] && first.Version() == target.Version():
			i.problem(fmt.Sprintf("DROP VIEW %s on %s, and %s", name, e.Shard, e.filled()), "view %s is another one on the target than on %s", name, e.FirstShard)
		}
	}
	return nil
}
