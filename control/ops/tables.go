package ops

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"locus/config/strict"
	"locus/control/declared"
	"locus/control/doctor"
	"locus/control/fitting"
	"locus/router"
	"locus/router/catalog"
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
	Change
	Table Table
	// Unreadable reports that the declaration can't be used, and is removed without a check of the shards.
	Unreadable bool
}

// PlanAddTable plans the declaration of a table that is on the shards. Nothing is written, and no shard is checked.
func (o *Ops) PlanAddTable(ctx context.Context, r TableWords, by string) (*TableChange, error) {
	name, d, err := r.parse()
	if err != nil {
		return nil, err
	}
	c := &TableChange{Table: Table{name.String(), d}}
	return c, o.planTables(ctx, c, by, importRows, func(tables map[catalog.TableName]catalog.Declaration) error {
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
	c := &TableChange{Table: Table{Name: r.Table}}
	if c.Unreadable = doctor.UnreadableTable(now, r.Table); c.Unreadable {
		c.Next, c.stamp = now, router.Stamp{By: by}
		return c, nil
	}
	return c, o.planTables(ctx, c, by, moveRows, func(tables map[catalog.TableName]catalog.Declaration) error {
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

func (o *Ops) planTables(ctx context.Context, c *TableChange, by, remedy string, edit func(map[catalog.TableName]catalog.Declaration) error) error {
	state, err := declared.Read(ctx, o.kv)
	if err != nil {
		return err
	}
	next, err := state.WithTables(edit)
	if err != nil {
		return err
	}
	change, err := o.planChange(state, next, router.Stamp{By: by, At: o.now()}, rules{defines: true, stranded: remedy})
	if err != nil {
		return err
	}
	c.Change = *change
	return nil
}

// CheckTable asks the shards whether they fit the declarations after a change. Nothing is written. Progress may be nil.
func (o *Ops) CheckTable(ctx context.Context, c *TableChange, progress fitting.Progress) error {
	if c.Unreadable {
		return nil
	}
	return o.CheckChange(ctx, &c.Change, progress)
}

// WriteTable writes a change that was checked, as [Ops.WriteChange] does, and waits until all proxies know the declarations.
func (o *Ops) WriteTable(ctx context.Context, c *TableChange) (Effect, error) {
	if c.Unreadable {
		_, err := doctor.RemoveTable(ctx, o.kv, c.Next, c.Table.Name, c.stamp.By, o.now())
		return Effect{}, err
	}
	return o.WriteChange(ctx, &c.Change)
}

// Unfilled returns the error for rows of global tables that were not all copied to a shard.
func Unfilled(err error) error {
	return fmt.Errorf("the rows of global tables are not all copied: %w; no genes may go there until locus shard fill, or the same request, has copied them", err)
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
