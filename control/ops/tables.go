package ops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/config/etcd"
	"locus/config/strict"
	"locus/control/declared"
	"locus/control/doctor"
	"locus/control/fitting"
	"locus/control/fleet"
	"locus/control/newshard"
	"locus/control/owngene"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Remedies for rows that would be left behind by a declaration, or by its removal.
const (
	importRows = "a table with rows is sharded by locus import, which brings them to their shards, unless each row is where it belongs"
	moveRows   = "move these rows to the default shard first, or delete them"
)

// DropTable requests that the declaration of a table is removed. The table itself stays.
type DropTable struct {
	Table string `json:"table"` // schema.table
}

// Table is a declaration that a request adds or removes.
type Table struct {
	Name        string // schema.table
	Declaration catalog.Declaration
}

// TableChange adds or removes a declaration. It is planned and checked, and not written yet.
type TableChange struct {
	Table       Table
	Next        *cluster.Cluster // after the change
	Differences []cluster.Change // empty: the table is declared so already
	// Unreadable reports that the declaration can't be used, and is removed without a check of the shards.
	Unreadable bool
	// Warnings of the check.
	Warnings []string
	// Lacking contains what is made on shards that own no genes.
	Lacking []*newshard.Lacking

	state      *declared.State
	by, remedy string
	making     *newshard.Plan
}

// TableEffect lists what was done on the shards and to the counters after the declaration was written.
type TableEffect struct {
	Filled    []newshard.Filled // shards that got the rows of global tables
	Regrouped []Regrouped
}

// PlanAddTable plans the declaration of a table that is on the shards. Nothing is written, and no shard is checked.
func (o *Ops) PlanAddTable(ctx context.Context, r TableWords, by string) (*TableChange, error) {
	name, d, err := r.parse()
	if err != nil {
		return nil, err
	}
	c := &TableChange{Table: Table{name.String(), d}, by: by, remedy: importRows}
	return c, o.planTables(ctx, c, func(tables map[catalog.TableName]catalog.Declaration) error {
		before, is := tables[name]
		switch {
		case !is:
			tables[name] = d
		case !before.Agrees(d):
			return &declared.OtherwiseError{Name: name, Declared: before}
		}
		return nil
	})
}

// PlanDropTable plans the removal of a declaration. Nothing is written, and no shard is checked.
func (o *Ops) PlanDropTable(ctx context.Context, r DropTable, by string) (*TableChange, error) {
	now, err := declared.Current(ctx, o.kv)
	if err != nil {
		return nil, err
	}
	c := &TableChange{Table: Table{Name: r.Table}, by: by, remedy: moveRows}
	if c.Unreadable = doctor.UnreadableTable(now, r.Table); c.Unreadable {
		c.Next = now
		return c, nil
	}
	return c, o.planTables(ctx, c, func(tables map[catalog.TableName]catalog.Declaration) error {
		name, before, err := Declared(tables, r.Table)
		if err != nil {
			return err
		}
		c.Table = Table{name.String(), before}
		delete(tables, name)
		return nil
	})
}

// Declared returns a table that is declared. The error is an *Invalid, or that it is not declared.
func Declared(tables map[catalog.TableName]catalog.Declaration, text string) (name catalog.TableName, d catalog.Declaration, err error) {
	if name, err = catalog.ParseTableName(text); err != nil {
		return name, d, invalid("%v", err)
	}
	d, is := tables[name]
	if !is {
		var names []string
		for n := range maps.Keys(tables) {
			names = append(names, n.String())
		}
		slices.Sort(names)
		return name, d, fmt.Errorf("table %s is not declared%s; locus table list lists the declared tables", name, strict.DidYouMean(text, names))
	}
	return name, d, nil
}

func (o *Ops) planTables(ctx context.Context, c *TableChange, edit func(map[catalog.TableName]catalog.Declaration) error) (err error) {
	if c.state, err = declared.Read(ctx, o.kv); err != nil {
		return err
	}
	next, err := c.state.WithTables(edit)
	if err != nil {
		return err
	}
	if c.Next, err = cluster.Succeed(c.state.Cluster, next, o.stampOf(c)); err != nil {
		return err
	}
	c.Differences, err = cluster.Diff(c.state.Cluster, c.Next)
	return err
}

// errUnwritten ends the text of a check that has failed.
var errUnwritten = errors.New("nothing was written")

// CheckTable asks the shards whether they fit the declarations after a change. Nothing is written. Progress may be nil.
func (o *Ops) CheckTable(ctx context.Context, c *TableChange, progress fitting.Progress) error {
	if len(c.Differences) == 0 {
		return nil
	}
	if err := o.checkTable(ctx, c, progress); err != nil {
		return errors.Join(err, errUnwritten)
	}
	return nil
}

func (o *Ops) checkTable(ctx context.Context, c *TableChange, progress fitting.Progress) error {
	whole, err := o.fitting(c, progress)
	if err != nil {
		return err
	}
	defer whole.Shards.Close(context.WithoutCancel(ctx))
	if c.making, err = newshard.Look(ctx, newshard.Cluster{Old: c.state.Cluster, Next: c.Next, Server: whole.Shards.Server}); err != nil {
		return err
	}
	if c.Lacking = c.making.Lacking; len(c.Lacking) == 0 {
		return c.fits(ctx, whole)
	}
	shards, tables := whole, whole // what is there already must fit; the rest is made like it
	shards.Next, tables.Next = c.making.Present()
	if _, err := c.loaded(ctx, tables); err != nil {
		return err
	}
	return c.fits(ctx, shards)
}

func (o *Ops) fitting(c *TableChange, progress fitting.Progress) (fitting.Change, error) {
	shards, err := fitting.Open(o.secrets, o.connect, c.state.Cluster, c.Next)
	if err != nil {
		return fitting.Change{}, errors.Join(err, ErrNoSecrets)
	}
	return fitting.Change{Old: c.state.Cluster, Next: c.Next, Shards: shards, Progress: progress}, nil
}

// loaded reads the tables of the shards. The error is the reason why they don't fit.
func (c *TableChange) loaded(ctx context.Context, change fitting.Change) (*schema.Loaded, error) {
	loaded, err := change.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("the tables can't be checked: %w", err)
	}
	for _, w := range loaded.Warnings {
		if text := fmt.Sprint(w); !slices.Contains(c.Warnings, text) {
			c.Warnings = append(c.Warnings, text)
		}
	}
	return loaded, errors.Join(change.Problems(ctx, loaded)...)
}

// fits returns why the tables of the shards don't fit, or which rows would be left behind.
func (c *TableChange) fits(ctx context.Context, change fitting.Change) error {
	loaded, err := c.loaded(ctx, change)
	if err != nil {
		return err
	}
	stranded, err := change.Stranded(ctx, loaded)
	if err == nil && stranded != nil {
		err = fmt.Errorf("%s\n%s", strings.Join(stranded, "\n"), c.remedy)
	}
	return err
}

// WriteTable writes a change that was checked, makes what shards without genes lack, and waits until all proxies know the declarations.
// Then it checks the shards again for rows that clients inserted before that. The error reports whether the change was written.
func (o *Ops) WriteTable(ctx context.Context, c *TableChange) (effect TableEffect, err error) {
	switch {
	case c.Unreadable:
		_, err := doctor.RemoveTable(ctx, o.kv, c.Next, c.Table.Name, c.by, o.now())
		return effect, err
	case len(c.Differences) > 0:
		if err := o.makeTables(ctx, c); err != nil {
			return effect, errors.Join(err, errUnwritten)
		}
		if effect.Filled, err = o.commitTables(ctx, c); err != nil {
			return effect, err
		}
		if err := o.settleTables(ctx, c); err != nil {
			return effect, fmt.Errorf("the change was written, but %w", err)
		}
	}
	effect.Regrouped, err = o.Regroup(ctx, c.Next, c.by)
	return effect, err
}

// makeTables makes the tables that shards without genes lack, and the columns for genes.
func (o *Ops) makeTables(ctx context.Context, c *TableChange) error {
	whole, err := o.fitting(c, nil)
	if err != nil {
		return err
	}
	defer whole.Shards.Close(context.WithoutCancel(ctx))
	if len(c.Lacking) > 0 {
		err = c.making.Make(ctx)
		if err == nil {
			err = c.fits(ctx, whole)
		}
		if err != nil {
			return fmt.Errorf("%w\nwhat was made on a shard stays, and the next request takes it as it is", err)
		}
	}
	return owngene.Make(ctx, whole.Shards.Of(c.Next), c.Next)
}

func (o *Ops) stampOf(c *TableChange) router.Stamp { return router.Stamp{By: c.by, At: o.now()} }

// commitTables writes the documents, and copies the rows of global tables to shards without genes.
func (o *Ops) commitTables(ctx context.Context, c *TableChange) ([]newshard.Filled, error) {
	filling, err := c.making.Begin(ctx, newshard.Patience)
	if err != nil {
		return nil, errors.Join(err, errUnwritten)
	}
	defer filling.Release()
	err = c.state.Commit(ctx, o.kv, c.Next, o.stampOf(c))
	conflict, changed := errors.AsType[*etcd.Conflict](err)
	switch {
	case changed:
		return nil, fmt.Errorf("%s was changed by another command since it was read; nothing was written; repeat the request", conflict.Key)
	case errors.Is(err, etcd.ErrUnknown):
		return nil, fmt.Errorf("%w; locus table list shows whether it was written", err)
	case err != nil:
		return nil, err
	}
	filled, err := filling.Settle(ctx, func(ctx context.Context) error { return AwaitMap(ctx, o.kv, c.Next.Routes.Version()) })
	if err != nil {
		return filled, Unfilled(err)
	}
	return filled, nil
}

// Unfilled returns the error for rows of global tables that were not all copied to a shard.
func Unfilled(err error) error {
	return fmt.Errorf("the rows of global tables are not all copied: %w; no genes may go there until locus shard fill, or the same request, has copied them", err)
}

// settleTables waits until no statement runs by the former declarations, and all proxies know the new ones. Then it checks the shards
// again.
func (o *Ops) settleTables(ctx context.Context, c *TableChange) error {
	if err := AwaitMap(ctx, o.kv, c.Next.Routes.Version()); err != nil {
		return fmt.Errorf("%w; until then rows may still be inserted by the former declaration: look for them with locus verify once the proxies have followed or are gone", err)
	}
	if err := fleet.TellRedefined(ctx, o.kv, fleet.RedefinedPatience); err != nil {
		return fmt.Errorf("not every proxy knows it yet: %w; locus proxies list lists them", err)
	}
	whole, err := o.fitting(c, nil)
	if err != nil {
		return err
	}
	defer whole.Shards.Close(context.WithoutCancel(ctx))
	if err := owngene.Make(ctx, whole.Shards.Of(c.Next), c.Next); err != nil { // for rows that clients inserted until then
		return err
	}
	if err := c.fits(ctx, whole); err != nil {
		return fmt.Errorf("the shards have changed since they were checked: %w", err)
	}
	return nil
}

// AddTable plans, checks and writes the declaration of a table.
func (o *Ops) AddTable(ctx context.Context, r TableWords, by string) (Table, error) {
	c, err := o.PlanAddTable(ctx, r, by)
	return o.changeTable(ctx, c, err)
}

// DropTable plans, checks and writes the removal of a declaration.
func (o *Ops) DropTable(ctx context.Context, r DropTable, by string) (Table, error) {
	c, err := o.PlanDropTable(ctx, r, by)
	return o.changeTable(ctx, c, err)
}

func (o *Ops) changeTable(ctx context.Context, c *TableChange, err error) (Table, error) {
	if err != nil {
		return Table{}, err
	}
	if err := o.CheckTable(ctx, c, nil); err != nil {
		return Table{}, err
	}
	_, err = o.WriteTable(ctx, c)
	return c.Table, err
}
