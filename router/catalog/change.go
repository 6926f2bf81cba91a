package catalog

import (
	"slices"
	"strings"
	"unicode/utf8"

	"locus/router"
)

// mostNamed is the greatest number of names in a change. A change of more objects counts as one of everything, because reading so many one by
// one takes longer than reading all.
const mostNamed = 64

// Change names the part of the shards' schemas that a definition may have changed. The zero Change is no change. It is part of the cluster's
// protocol: a proxy sends the Change of its definition to the others as JSON.
type Change struct {
	// Everything: the names of the changed objects are unknown.
	Everything bool `json:"everything,omitempty"`
	// Shards are the shards that may have changed; nil: every shard.
	Shards []router.ShardName `json:"shards,omitempty"`
	// Tables are base tables, sequences and views that were created, altered, dropped or renamed. A renamed one is listed under its old and its
	// new name. A table's columns, keys, foreign keys and triggers belong to it.
	Tables []TableName `json:"tables,omitempty"`
	// Alone are those of Tables that have the same name and columns as before, so that no other object changes together with them.
	Alone []TableName `json:"alone,omitempty"`
	// Routines are procedures and functions.
	Routines []TableName `json:"routines,omitempty"`
	// Declared: the declarations have changed. If nothing else is named, no shard has changed.
	Declared bool `json:"declared,omitempty"`
}

// Anything is a change of unknown objects.
var Anything = Change{Everything: true}

// Empty reports whether nothing has changed.
func (c Change) Empty() bool { return !c.Declared && !c.onShards() }

// OnlyDeclared reports whether the declarations have changed and no shard has.
func (c Change) OnlyDeclared() bool { return c.Declared && !c.onShards() }

func (c Change) onShards() bool { return c.Everything || len(c.Tables) > 0 || len(c.Routines) > 0 }

// And returns the change that contains both.
func (c Change) And(other Change) Change {
	switch {
	case other.Empty():
		return c
	case c.Empty():
		return other
	case c.Everything || other.Everything:
		return Anything
	}
	sum := Change{Tables: union(c.Tables, other.Tables), Alone: union(c.aloneBeside(other), other.aloneBeside(c)), Routines: union(c.Routines, other.Routines), Declared: c.Declared || other.Declared}
	switch {
	case !c.onShards():
		sum.Shards = other.Shards
	case !other.onShards():
		sum.Shards = c.Shards
	case c.Shards != nil && other.Shards != nil:
		sum.Shards = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Shards, other.Shards))))
	}
	if len(sum.Tables)+len(sum.Routines) > mostNamed {
		return Anything
	}
	return sum
}

// aloneBeside returns the tables that are alone in c, without those that the other change names and that are not alone there.
func (c Change) aloneBeside(other Change) (alone []TableName) {
	return slices.DeleteFunc(slices.Clone(c.Alone), func(t TableName) bool { return slices.Contains(other.Tables, t) && !slices.Contains(other.Alone, t) })
}

// Names reports whether a table may have changed.
func (c Change) Names(t TableName) bool { return c.Everything || slices.Contains(c.Tables, t) }

// Concerns reports whether a shard may have changed.
func (c Change) Concerns(shard router.ShardName) bool {
	return c.onShards() && (c.Shards == nil || slices.Contains(c.Shards, shard))
}

func union(a, b []TableName) []TableName {
	all := slices.Concat(a, b)
	slices.SortFunc(all, TableName.Compare)
	return slices.Compact(all)
}

// Involved returns the tables that a change names and those of the listing that change together with them. These are the tables whose foreign
// keys refer to one, since a server renames the reference together with its table. They are also the views whose queries name one, directly or
// through other views, since a server derives a view's columns from its tables.
func (l *Listing) Involved(c Change) []TableName {
	tables := slices.DeleteFunc(slices.Clone(c.Tables), func(t TableName) bool { return slices.Contains(c.Alone, t) })
	all := map[TableName]bool{}
	for _, t := range tables {
		all[t] = true
	}
	var children []TableName
	for _, k := range l.ForeignKeys {
		if all[k.References] {
			children = append(children, k.TableName)
		}
	}
	views := l.viewsOver(tables)
	return union(union(c.Tables, children), views)
}

// Ambiguous reports whether one of the names may denote other routines of the listing than those with this name in another letter case. Servers
// compare the names of routines by a collation, in which é is e, and databases may differ in letter case alone.
func (l *Listing) Ambiguous(routines []TableName) bool {
	beyondASCII := func(n TableName) bool {
		return strings.ContainsFunc(n.Schema+n.Name, func(c rune) bool { return c >= utf8.RuneSelf })
	}
	for _, r := range routines {
		if beyondASCII(r) {
			return true
		}
		for i := range l.Programs {
			p := &l.Programs[i]
			if p.routine() && strings.EqualFold(p.Schema, r.Schema) && (p.Schema != r.Schema || beyondASCII(p.TableName)) {
				return true
			}
		}
	}
	return false
}

// viewsOver returns the views whose queries name one of the tables, directly or through other views. It may also return views that use the
// names for something else. A view whose query is hidden is always included.
func (l *Listing) viewsOver(tables []TableName) (over []TableName) {
	found := map[TableName]bool{}
	for next := tables; len(next) > 0; {
		names := make([]TableName, len(next))
		for i, t := range next {
			names[i] = t.lower()
		}
		next = nil
		for i := range l.Tables {
			t := &l.Tables[i]
			if t.Base() || found[t.TableName] || !t.mentionsAny(names) {
				continue
			}
			found[t.TableName] = true
			next = append(next, t.TableName)
		}
		over = append(over, next...)
	}
	return over
}
