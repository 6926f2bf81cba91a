package orders

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

// What is to be done about rows that a declaration would leave behind, or taking it away.
const (
	DeclaredByImport = "a table with rows is sharded by locus import, which brings them to their shards, unless each row is where it belongs"
	NoRowsElsewhere  = "move these rows to the default shard first, or delete them"
)

// tableAdd declares a table that is on the shards, by the words of a comment.
func tableAdd(ctx context.Context, c *call) (shown, error) {
	name := c.table()
	d, err := catalog.ParseWords(c.text(1))
	if err != nil {
		c.wrong(1, "%v", err)
	}
	if c.bad != "" {
		return shown{}, nil
	}
	err = c.declare(ctx, DeclaredByImport, func(tables map[catalog.TableName]catalog.Declaration) error {
		return AddTable(tables, name, d)
	})
	return shown{columns: []string{"table_name", "kind", "words"}, row: []string{name.String(), string(d.Kind), d.Words()}}, err
}

// AddTable adds a table to those that are declared. One that is declared so already, or of which more
// is declared, stays as it is; one that is declared otherwise is an error.
func AddTable(tables map[catalog.TableName]catalog.Declaration, name catalog.TableName, d catalog.Declaration) error {
	before, is := tables[name]
	switch {
	case !is:
		tables[name] = d
	case !before.Agrees(d):
		return &declared.OtherwiseError{Name: name, Declared: before}
	}
	return nil
}

// tableDrop takes a table's declaration away.
func tableDrop(ctx context.Context, c *call) (shown, error) {
	if removed, err := c.removeUnreadable(ctx); removed || err != nil {
		return shown{columns: []string{"table_name", "kind", "words"}, row: []string{c.text(0), "", ""}}, err
	}
	name := c.table()
	if c.bad != "" {
		return shown{}, nil
	}
	var was catalog.Declaration
	err := c.declare(ctx, NoRowsElsewhere, func(tables map[catalog.TableName]catalog.Declaration) error {
		before, is := tables[name]
		if !is {
			return fmt.Errorf("table %s is not declared", name)
		}
		was = before
		delete(tables, name)
		return nil
	})
	return shown{columns: []string{"table_name", "kind", "words"}, row: []string{name.String(), string(was.Kind), was.Words()}}, err
}

// removeUnreadable removes the declaration of the table if it can't be used, and reports whether that was so.
func (c *call) removeUnreadable(ctx context.Context) (bool, error) {
	now, err := declared.Current(ctx, c.kv)
	if err != nil {
		return false, err
	}
	return doctor.RemoveTable(ctx, c.kv, now, c.text(0), c.by, c.now())
}

func (c *call) table() catalog.TableName {
	name, err := catalog.ParseTableName(c.text(0))
	if err != nil {
		c.wrong(0, "%v", err)
	}
	return name
}

// declare changes the declared tables, with the checks of locus apply, and waits until all
// proxies know.
func (c *call) declare(ctx context.Context, remedy string, edit func(map[catalog.TableName]catalog.Declaration) error) error {
	state, err := declared.Read(ctx, c.kv)
	if err != nil {
		return err
	}
	next, err := state.WithTables(edit)
	if err != nil {
		return err
	}
	after, err := cluster.Succeed(state.Cluster, next, router.Stamp{By: c.by, At: c.now()})
	if err != nil {
		return err
	}
	if err := c.fits(ctx, state.Cluster, after, remedy); err != nil {
		return err
	}
	err = state.Commit(ctx, c.kv, after)
	if conflict, changed := errors.AsType[*etcd.Conflict](err); changed {
		return fmt.Errorf("%s was changed by another command meanwhile; nothing was written: call it again", conflict.Key)
	}
	if err != nil {
		return err
	}
	if err := fleet.TellRedefined(ctx, c.kv, fleet.RedefinedPatience); err != nil {
		return fmt.Errorf("it is written, and not known to every proxy yet: %w", err)
	}
	if err := c.fits(ctx, state.Cluster, after, remedy); err != nil { // rows that clients inserted until then
		return fmt.Errorf("it is written, and the shards have changed meanwhile: %w", err)
	}
	return nil
}

// fits asks the shards what locus apply asks them.
func (c *call) fits(ctx context.Context, old, next *cluster.Cluster, remedy string) error {
	shards, err := fitting.Open(c.logIn.Secrets, c.logIn.Connect, old, next)
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
