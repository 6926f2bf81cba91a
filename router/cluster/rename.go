package cluster

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"locus/router/catalog"
)

// Two documents under a table's new name record its renaming. One exists during the renaming, the other one after it. They are not part of a
// file.
//
// During the renaming, the table is declared by both names, and no statement may use either:
//
//	declared ── BeginRename ──▶ renaming ── EndRename ──▶ declared, by the new name
//	   ▲                          │
//	   └───────── UndoRename ─────┘
type (
	renamingDocument struct {
		Schema int    `yaml:"schema"`
		From   string `yaml:"from"` // schema.table
	}
	countersDocument struct {
		Schema int    `yaml:"schema"`
		Of     string `yaml:"of"` // schema.table
	}
)

// CountersOf returns the name under which a table's IDs and numbers are counted: the first name of the table. A table keeps its counters when
// it is renamed, so that no number is granted twice.
func (c *Cluster) CountersOf(name catalog.TableName) catalog.TableName {
	if of, renamed := c.Counters[name]; renamed {
		return of
	}
	return name
}

// RenamesWith returns the renames in progress that are connected with a name. They are in an order in which each new name is free when its
// turn comes. It returns nil if the table is not being renamed.
func (c *Cluster) RenamesWith(name catalog.TableName) []catalog.Rename {
	of := map[catalog.TableName]bool{name: true}
	for grew := true; grew; {
		grew = false
		for to, from := range c.Renaming {
			if of[to] != of[from] {
				of[to], of[from], grew = true, true, true
			}
		}
	}
	var list []catalog.Rename
	for to, from := range c.Renaming {
		if of[to] {
			list = append(list, catalog.Rename{From: from, To: to})
		}
	}
	slices.SortFunc(list, func(a, b catalog.Rename) int { return strings.Compare(a.From.String(), b.From.String()) })
	if ordered, err := catalog.InOrder(list); err == nil { // the renames were in a valid order when they began
		return ordered
	}
	return list
}

// BeginRename returns the cluster in which the tables are declared by their new names too. If exactly these renames are already in progress,
// it returns c, and resumed is true.
func (c *Cluster) BeginRename(list []catalog.Rename) (next *Cluster, resumed bool, err error) {
	begun := 0
	var errs []error
	froms := map[catalog.TableName]bool{}
	for _, r := range list {
		froms[r.From] = true
	}
	for _, r := range list {
		if from, under := c.Renaming[r.To]; under && from == r.From {
			begun++
			continue
		}
		for _, name := range []catalog.TableName{r.From, r.To} {
			if others := c.RenamesWith(name); others != nil {
				errs = append(errs, &catalog.RenamingError{Name: name, Renames: others})
			}
		}
		d, is := c.Tables[r.From]
		_, taken := c.Tables[r.To]
		switch {
		case !is || d.Kind != catalog.Sharded && d.Kind != catalog.Global:
			errs = append(errs, fmt.Errorf("table %s is declared neither sharded nor global by now", r.From))
		case taken && !froms[r.To]:
			errs = append(errs, fmt.Errorf("table %s is declared already", r.To))
		}
	}
	switch {
	case errs != nil:
		return nil, false, errors.Join(errs...)
	case c.Routes != nil && len(c.Routes.Moves()) > 0:
		return nil, false, errors.New("genes are being moved: wait until locus jobs shows that the job has ended")
	case begun > 0:
		return c, true, c.checkWhole(list)
	}
	next = c.cloneNames()
	for _, r := range list {
		next.Renaming[r.To] = r.From
		if _, is := next.Tables[r.To]; !is {
			next.Tables[r.To] = c.Tables[r.From]
		}
	}
	return next, false, next.Validate()
}

// checkWhole refuses a list that contains only some of the renames that are done together.
func (c *Cluster) checkWhole(list []catalog.Rename) error {
	for _, r := range list {
		for _, with := range c.RenamesWith(r.From) {
			if !slices.Contains(list, with) {
				return &catalog.RenamingError{Name: r.From, Renames: c.RenamesWith(r.From)}
			}
		}
		if c.Renaming[r.To] != r.From {
			return fmt.Errorf("others of these tables are being renamed: %w", &catalog.RenamingError{Name: list[0].From, Renames: c.RenamesWith(list[0].From)})
		}
	}
	return nil
}

// EndRename returns the cluster without the old names, after all shards have renamed the tables. It returns c if these renames are not in
// progress.
func (c *Cluster) EndRename(list []catalog.Rename) (*Cluster, error) {
	if !c.isRenaming(list) {
		return c, nil
	}
	next := c.cloneNames()
	for _, r := range list {
		delete(next.Tables, r.From)
		delete(next.Renaming, r.To)
	}
	for _, r := range list {
		next.Tables[r.To] = c.Tables[r.From]
		if next.Counters[r.To] = c.CountersOf(r.From); next.Counters[r.To] == r.To {
			delete(next.Counters, r.To)
		}
	}
	return next, next.Validate()
}

// UndoRename returns the cluster without the new names, while no shard has renamed the tables. It returns c if these renames are not in
// progress.
func (c *Cluster) UndoRename(list []catalog.Rename) (*Cluster, error) {
	if !c.isRenaming(list) {
		return c, nil
	}
	next := c.cloneNames()
	for _, r := range list {
		delete(next.Tables, r.To)
		delete(next.Renaming, r.To)
	}
	for _, r := range list {
		next.Tables[r.From] = c.Tables[r.From]
	}
	return next, next.Validate()
}

func (c *Cluster) isRenaming(list []catalog.Rename) bool {
	return !slices.ContainsFunc(list, func(r catalog.Rename) bool { return c.Renaming[r.To] != r.From })
}

// cloneNames returns a copy whose names may be changed.
func (c *Cluster) cloneNames() *Cluster {
	next := *c
	next.Tables = maps.Clone(c.Tables)
	for _, m := range []*map[catalog.TableName]catalog.TableName{&next.Renaming, &next.Counters} {
		if *m = maps.Clone(*m); *m == nil {
			*m = map[catalog.TableName]catalog.TableName{}
		}
	}
	return &next
}

// withNamesOf returns the cluster with Renaming and Counters of the old one where its own are nil.
func (c *Cluster) withNamesOf(old *Cluster) *Cluster {
	if old == nil {
		return c
	}
	whole := *c
	if c.Renaming == nil {
		whole.Renaming = old.Renaming
	}
	if c.Counters == nil {
		whole.Counters = old.Counters
	}
	return &whole
}

// checkRenaming refuses changes of the declarations and of the shards of tables that are being renamed.
func checkRenaming(old, next *Cluster) error {
	if len(old.Renaming) == 0 || !maps.Equal(old.Renaming, next.Renaming) {
		return nil
	}
	var errs []error
	for to, from := range old.Renaming {
		for _, name := range []catalog.TableName{from, to} {
			if !reflect.DeepEqual(old.Tables[name], next.Tables[name]) {
				errs = append(errs, fmt.Errorf("its declaration can't be changed now: %w", &catalog.RenamingError{Name: name, Renames: old.RenamesWith(name)}))
			}
		}
		if !slices.Equal(old.ShardNames(), next.ShardNames()) || old.Settings.DefaultShard != next.Settings.DefaultShard {
			errs = append(errs, fmt.Errorf("the shards can't be changed now: %w", &catalog.RenamingError{Name: from, Renames: old.RenamesWith(from)}))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(slices.CompactFunc(errs, func(a, b error) bool { return a.Error() == b.Error() })...)
}

// parseNames parses the key and the value of a document that relates one table to another.
func parseNames(key, of string) (table, other catalog.TableName, err error) {
	if table, err = catalog.ParseTableKey(key); err != nil {
		return table, other, err
	}
	other, err = catalog.ParseTableName(of)
	return table, other, err
}
