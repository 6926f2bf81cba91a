package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/doctor"
	"locus/control/fitting"
	"locus/control/fleet"
	"locus/control/owngene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Remedies for rows that would be left behind by a declaration, or by its removal.
const (
	DeclaredByImport = "a table with rows is sharded by locus import, which brings them to their shards, unless each row is where it belongs"
	NoRowsElsewhere  = "move these rows to the default shard first, or delete them"
)

// DropTable requests that the declaration of a table is removed. The table itself stays.
type DropTable struct {
	Table string `json:"table"` // schema.table
}

// Table is the declaration that a request has added or removed.
type Table struct {
	Name        string // schema.table
	Declaration catalog.Declaration
}

// AddTable declares a table that is on the shards, and waits until all proxies know it.
func (o *Ops) AddTable(ctx context.Context, r TableWords, by string) (Table, error) {
	name, d, err := r.parse()
	if err != nil {
		return Table{}, err
	}
	err = o.declare(ctx, DeclaredByImport, by, func(tables map[catalog.TableName]catalog.Declaration) error {
		return Add(tables, name, d)
	})
	return Table{name.String(), d}, err
}

// Add adds a table to the declared ones. A table that is declared so already, or with more than that, stays as it is. A different
// declaration is an error.
func Add(tables map[catalog.TableName]catalog.Declaration, name catalog.TableName, d catalog.Declaration) error {
	before, is := tables[name]
	switch {
	case !is:
		tables[name] = d
	case !before.Agrees(d):
		return &declared.OtherwiseError{Name: name, Declared: before}
	}
	return nil
}

// DropTable removes the declaration of a table, and waits until all proxies know it. A declaration that can't be read is removed without
// a check of the shards.
func (o *Ops) DropTable(ctx context.Context, r DropTable, by string) (Table, error) {
	now, err := declared.Current(ctx, o.kv)
	if err != nil {
		return Table{}, err
	}
	if removed, err := doctor.RemoveTable(ctx, o.kv, now, r.Table, by, o.now()); removed || err != nil {
		return Table{Name: r.Table}, err
	}
	name, err := catalog.ParseTableName(r.Table)
	if err != nil {
		return Table{}, invalid("%v", err)
	}
	was := Table{Name: name.String()}
	err = o.declare(ctx, NoRowsElsewhere, by, func(tables map[catalog.TableName]catalog.Declaration) error {
		before, is := tables[name]
		if !is {
			return fmt.Errorf("table %s is not declared; locus table list lists the declared tables", name)
		}
		was.Declaration = before
		delete(tables, name)
		return nil
	})
	return was, err
}

// declare changes the declared tables, with the checks of locus apply, and waits until all proxies know them.
func (o *Ops) declare(ctx context.Context, remedy, by string, edit func(map[catalog.TableName]catalog.Declaration) error) error {
	state, err := declared.Read(ctx, o.kv)
	if err != nil {
		return err
	}
	next, err := state.WithTables(edit)
	if err != nil {
		return err
	}
	after, err := cluster.Succeed(state.Cluster, next, router.Stamp{By: by, At: o.now()})
	if err != nil {
		return err
	}
	if err := o.fits(ctx, state.Cluster, after, remedy); err != nil {
		return err
	}
	err = state.Commit(ctx, o.kv, after)
	if conflict, changed := errors.AsType[*etcd.Conflict](err); changed {
		return fmt.Errorf("%s was changed by another command meanwhile; nothing was written: call it again", conflict.Key)
	}
	if err != nil {
		return err
	}
	if err := fleet.TellRedefined(ctx, o.kv, fleet.RedefinedPatience); err != nil {
		return fmt.Errorf("it is written, and not known to every proxy yet: %w; locus proxies list shows them", err)
	}
	if err := o.fits(ctx, state.Cluster, after, remedy); err != nil { // rows that clients inserted until then
		return fmt.Errorf("it is written, and the shards have changed meanwhile: %w", err)
	}
	return nil
}

// fits asks the shards what locus apply asks them.
func (o *Ops) fits(ctx context.Context, old, next *cluster.Cluster, remedy string) error {
	shards, err := fitting.Open(o.secrets, o.connect, old, next)
	if err != nil {
		return errors.Join(err, ErrNoSecrets)
	}
	defer shards.Close(context.WithoutCancel(ctx))
	change := fitting.Change{Old: old, Next: next, Shards: shards}
	loaded, err := change.Load(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(change.Problems(ctx, loaded)...); err != nil {
		return err
	}
	stranded, err := change.Stranded(ctx, loaded)
	if err == nil && stranded != nil {
		err = fmt.Errorf("%s\n%s", strings.Join(stranded, "\n"), remedy)
	}
	if err != nil {
		return err
	}
	return owngene.Make(ctx, shards.Of(next), next)
}
