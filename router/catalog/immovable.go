package catalog

import (
	"fmt"
	"strings"
)

// Obstacle is what keeps rows of sharded tables from being moved between shards.
type Obstacle struct {
	Table        TableName // whose definition has it
	What, Remedy string
}

// KeyObstacles returns what keeps rows that foreign keys tie from being moved. declared returns the declaration of a table, if it is
// declared.
func KeyObstacles(keys []ForeignKey, declared func(TableName) Declaration) (list []Obstacle) {
	for i := range keys {
		if o := keys[i].obstacle(declared); o != nil {
			list = append(list, *o)
		}
	}
	return list
}

// obstacle returns why rows that one key ties can't be moved, or nil.
//
// A key between two sharded tables moves with the rows: cascades have no effect outside of one owner's rows. A key to a global table needs
// nothing, since the target has the same rows, unless changes of that table change the moving rows: the stream could not tell them from
// those that the target makes itself.
func (f *ForeignKey) obstacle(declared func(TableName) Declaration) *Obstacle {
	child, parent := declared(f.TableName).Kind, declared(f.References).Kind
	drop := fmt.Sprintf("ALTER TABLE %s DROP FOREIGN KEY %s", f.TableName, f.Name)
	switch {
	case child == Sharded && parent == Sharded, child != Sharded && parent != Sharded, child == Sharded && parent == Global && !f.acts():
		return nil
	case child == Sharded && parent == Global:
		return &Obstacle{f.TableName, fmt.Sprintf("foreign key %s changes rows of %s by ON UPDATE %s, ON DELETE %s when rows of global table %s change, so rows can't be moved",
			f.Name, f.TableName, f.OnUpdate, f.OnDelete, f.References), drop + ", or make it without CASCADE and SET NULL"}
	}
	return &Obstacle{f.TableName, fmt.Sprintf("foreign key %s ties %s to %s, and only rows of one of them move", f.Name, f.TableName, f.References), drop}
}

// Obstacles returns what keeps rows of a sharded table from being moved, or makes a move likely to fail, as far as the default shard's
// definitions show it.
func (c *Catalog) Obstacles(t *Table) (list []Obstacle) {
	if t.Kind != Sharded || c.closed == nil || c.closed.listings[c.First()] == nil {
		return nil
	}
	l := c.closed.listings[c.First()]
	for _, o := range KeyObstacles(l.ForeignKeys, c.kept) {
		if o.Table == t.TableName {
			list = append(list, o)
		}
	}
	for i := range l.Programs {
		if p := &l.Programs[i]; p.Type == trigger && p.Schema == t.Schema && p.On == t.Name {
			list = append(list, Obstacle{t.TableName, fmt.Sprintf("trigger %s would fire on rows that a move writes, so rows can't be moved", p.Name), "DROP TRIGGER " + p.TableName.String() + " for the time of a move"})
		}
	}
	for _, u := range t.Unseen {
		list = append(list, t.Loose(u))
	}
	return list
}

// Loose returns what is wrong with a unique key that does not tell the gene.
func (t *Table) Loose(u UniqueKey) Obstacle {
	return Obstacle{
		t.TableName, fmt.Sprintf("unique key %s does not contain the owner or an ID, so it holds within each shard only, "+
			"IGNORE, REPLACE and ON DUPLICATE KEY UPDATE are refused, and a move fails if both shards have a row with the same values", u.Name),
		"add " + t.Root().Column.Name + " to it",
	}
}

// String returns it as doctor and apply show it.
func (o Obstacle) String() string {
	return strings.Join([]string{"table " + o.Table.String(), o.What, o.Remedy}, ": ")
}
