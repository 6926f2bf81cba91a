package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Obstacle is a reason why rows of sharded tables can't be moved between shards.
type Obstacle struct {
	Table        TableName // the table whose definition contains the reason
	What, Remedy string
}

// KeyObstacles returns the obstacles to moving rows that are caused by foreign keys. declared returns the declaration of a table, or a zero
// Declaration if it isn't declared.
func KeyObstacles(keys []ForeignKey, declared func(TableName) Declaration) (list []Obstacle) {
	for i := range keys {
		if o := keys[i].obstacle(declared); o != nil {
			list = append(list, *o)
		}
	}
	return list
}

// obstacle returns why rows with this key can't be moved, or nil.
//
// A key between two sharded tables moves with the rows: cascades have no effect outside of one owner's rows. A key to a global table is no
// obstacle, since the target has the same rows. It is one if changes of the global table change the moving rows: the stream could not
// distinguish them from changes that the target makes itself.
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

// Obstacles returns the reasons in the default shard's definitions why rows of a sharded table can't be moved, or why a move
// is likely to fail. It returns nil if these definitions are unknown.
func (c *Catalog) Obstacles(t *Table) (list []Obstacle) {
	if t.Kind != Sharded || c.closed == nil || c.closed.listings[c.First()] == nil {
		return nil
	}
	l := c.closed.listings[c.First()]
	for _, o := range KeyObstacles(l.ForeignKeys, c.placement) {
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
		if !t.NumbersAlone(u) && !c.KeepsUnique(t, u) { // equal values are on no two shards
			list = append(list, t.UniqueObstacle(u))
		}
	}
	return list
}

// UniqueObstacle returns the obstacle of a unique key that does not determine the gene.
func (t *Table) UniqueObstacle(u UniqueKey) Obstacle {
	remedy := t.WithOwner(u)
	if len(u.Columns) == 1 && !u.Partial && u.Name != "PRIMARY" && t.Columns[u.Columns[0]].foldable() == nil {
		remedy += ", or create a look-up index for " + quoted(t.Columns[u.Columns[0]].Name)
	}
	return Obstacle{
		t.TableName, fmt.Sprintf("unique key %s does not contain the owner or an ID, so it holds within each shard only, "+
			"IGNORE, REPLACE and ON DUPLICATE KEY UPDATE are refused, and a move fails if both shards have a row with the same values", u.Name),
		remedy,
	}
}

// WithOwner returns the statement that adds the owner to a unique key, so that equal values are on one shard. A key whose definition is not
// completely known must be made again by hand.
func (t *Table) WithOwner(u UniqueKey) string {
	owner := t.Root().Column.Name
	if u.Partial || len(u.Columns) == 0 {
		return "add " + owner + " to it"
	}
	drop, add := "KEY "+quoted(u.Name), "UNIQUE KEY "+quoted(u.Name)
	if u.Name == "PRIMARY" {
		drop, add = "PRIMARY KEY", "PRIMARY KEY"
	}
	names := make([]string, 0, len(u.Columns)+1)
	for _, at := range u.Columns {
		names = append(names, quoted(t.Columns[at].Name))
	}
	return fmt.Sprintf("ALTER TABLE %s DROP %s, ADD %s (%s)", t.TableName.SQL(), drop, add, strings.Join(append(names, quoted(owner)), ", "))
}

// NumbersAlone reports whether the cluster gives each value of the key once, because the key contains the AUTO_INCREMENT column. Columns that are
// no integers are numbered by each shard for itself.
func (t *Table) NumbersAlone(u UniqueKey) bool {
	at := t.Numbered()
	return at >= 0 && t.Columns[at].IsInteger() && slices.Contains(u.Columns, at)
}

// String returns the obstacle as doctor and apply print it.
func (o Obstacle) String() string {
	return strings.Join([]string{"table " + o.Table.String(), o.What, o.Remedy}, ": ")
}
