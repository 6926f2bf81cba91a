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

// Two documents of a table's new name outlast and accompany its renaming. No file has them.
//
// While it is under way the table is declared by both names, and served by none:
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

// CountersOf is the name under which a table's IDs and numbers are counted: what it was called first. A table
// keeps its counters whatever it is called, so that none of them is given again.
func (c *Cluster) CountersOf(name catalog.TableName) catalog.TableName {
	if of, renamed := c.Counters[name]; renamed {
		return of
	}
	return name
}

// RenamesWith are the renames under way that take part in one with a name, in an order in which each new name is free when its
// turn comes; nil: the table is not being renamed.
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
	if ordered, err := catalog.InOrder(list); err == nil { // it was, when they began
		return ordered
	}
	return list
}

// BeginRename declares tables by their new names too. It does nothing if just these renames are under way; resumed says so.
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
		return nil, false, errors.New("genes are on the move: wait until locus jobs shows the move to be over")
	case begun > 0:
		return c, true, c.whole(list)
	}
	next = c.renamed()
	for _, r := range list {
		next.Renaming[r.To] = r.From
		if _, is := next.Tables[r.To]; !is {
			next.Tables[r.To] = c.Tables[r.From]
		}
	}
	return next, false, next.Validate()
}

// whole refuses to go on with some of the renames that are done together.
func (c *Cluster) whole(list []catalog.Rename) error {
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

// EndRename takes the former names away, once all shards have renamed the tables. It does nothing if these renames are not under way.
func (c *Cluster) EndRename(list []catalog.Rename) (*Cluster, error) {
	if !c.renaming(list) {
		return c, nil
	}
	next := c.renamed()
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

// UndoRename takes the new names away, while no shard has renamed the tables. It does nothing if these renames are not under way.
func (c *Cluster) UndoRename(list []catalog.Rename) (*Cluster, error) {
	if !c.renaming(list) {
		return c, nil
	}
	next := c.renamed()
	for _, r := range list {
		delete(next.Tables, r.To)
		delete(next.Renaming, r.To)
	}
	for _, r := range list {
		next.Tables[r.From] = c.Tables[r.From]
	}
	return next, next.Validate()
}

func (c *Cluster) renaming(list []catalog.Rename) bool {
	return !slices.ContainsFunc(list, func(r catalog.Rename) bool { return c.Renaming[r.To] != r.From })
}

// renamed is a copy of which names may be changed.
func (c *Cluster) renamed() *Cluster {
	next := *c
	next.Tables = maps.Clone(c.Tables)
	for _, m := range []*map[catalog.TableName]catalog.TableName{&next.Renaming, &next.Counters} {
		if *m = maps.Clone(*m); *m == nil {
			*m = map[catalog.TableName]catalog.TableName{}
		}
	}
	return &next
}

// withNamesOf is the cluster with what the one before has of renamed tables, unless it says so itself.
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

// checkRenaming refuses to change, while tables are renamed, what these are, and which shards have to rename them.
func checkRenaming(old, next *Cluster) error {
	if len(old.Renaming) == 0 || !maps.Equal(old.Renaming, next.Renaming) {
		return nil
	}
	var errs []error
	for to, from := range old.Renaming {
		for _, name := range []catalog.TableName{from, to} {
			if !reflect.DeepEqual(old.Tables[name], next.Tables[name]) {
				errs = append(errs, fmt.Errorf("what is declared of it can't be changed now: %w", &catalog.RenamingError{Name: name, Renames: old.RenamesWith(name)}))
			}
		}
		if !slices.Equal(old.ShardNames(), next.ShardNames()) || old.Settings.DefaultShard != next.Settings.DefaultShard {
			errs = append(errs, fmt.Errorf("the shards can't be others now: %w", &catalog.RenamingError{Name: from, Renames: old.RenamesWith(from)}))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(slices.CompactFunc(errs, func(a, b error) bool { return a.Error() == b.Error() })...)
}

// names parses the key and the value of a document that relates one table to another.
func names(key, of string) (table, other catalog.TableName, err error) {
	if table, err = catalog.ParseTableKey(key); err != nil {
		return table, other, err
	}
	other, err = catalog.ParseTableName(of)
	return table, other, err
}
