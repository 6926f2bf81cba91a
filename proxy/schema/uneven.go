package schema

import (
	"fmt"
	"slices"
	"strings"

	"locus/router/catalog"
)

// level has all copies show the columns that all have, where they differ by others alone that a row may leave out: somebody adds
// one, or drops one, shard by shard. What a statement says without naming columns is then said of those that all show.
func (c *copies) level(d catalog.Declaration) (u catalog.Unevenness) {
	if slices.Contains(c.tables, nil) {
		return u
	}
	for _, t := range c.tables {
		for _, column := range t.columns {
			here, hidden := c.having(column.Name)
			switch {
			case slices.ContainsFunc(u.Partial, func(p catalog.Column) bool { return p.Name == column.Name }):
			case here < len(c.tables) && omissible(column, d):
				u.Partial = append(u.Partial, column.Column)
			case here == len(c.tables) && hidden > 0 && hidden < here && omissible(column, d):
				u.Hidden = append(u.Hidden, column.Name)
			}
		}
	}
	if u.Even() {
		return u
	}
	slices.Sort(u.Hidden)
	u.Hidden = slices.Compact(u.Hidden)
	for i, t := range c.tables {
		c.tables[i] = t.leveled(u)
	}
	return u
}

// having counts the copies that have a column, and those in which it is invisible.
func (c *copies) having(column string) (n, hidden int) {
	for _, t := range c.tables {
		if found := t.find(column); found != nil {
			n++
			if found.Invisible {
				hidden++
			}
		}
	}
	return n, hidden
}

// omissible tells a column that a statement may leave out on those shards that have it, so that rows are what they would be on one
// server. In copies of a row it must come to the same.
func omissible(c liveColumn, d catalog.Declaration) bool {
	return c.HasDefault && !c.AutoIncrement && d.RoleOf(c.Name) == "" && c.Name != catalog.OwnGene && (d.Kind != catalog.Global || c.Default != catalog.Anew)
}

func (t *liveTable) leveled(u catalog.Unevenness) *liveTable {
	next := *t
	next.columns = slices.DeleteFunc(slices.Clone(t.columns), func(c liveColumn) bool {
		return slices.ContainsFunc(u.Partial, func(p catalog.Column) bool { return p.Name == c.Name })
	})
	for i := range next.columns {
		if slices.Contains(u.Hidden, next.columns[i].Name) {
			next.columns[i].Invisible = true
		}
	}
	return &next
}

// unevenness is what is told of copies that differ so.
func (c *copies) unevenness(u catalog.Unevenness, raw []*liveTable) []error {
	var warnings []error
	for _, p := range u.Partial {
		var with, without []string
		for i, t := range raw {
			if t.find(p.Name) != nil {
				with = append(with, string(c.shards[i]))
			} else {
				without = append(without, string(c.shards[i]))
			}
		}
		warnings = append(warnings, fmt.Errorf("table %s: column %s is on %s and not on %s: until all have it, it is left out of SELECT *, and of INSERT without a list of columns: add it on %s, or drop it everywhere",
			c.name, p.Name, strings.Join(with, ", "), strings.Join(without, ", "), strings.Join(without, ", ")))
	}
	for _, name := range u.Hidden {
		var in []string
		for i, t := range raw {
			if t.find(name).Invisible {
				in = append(in, string(c.shards[i]))
			}
		}
		warnings = append(warnings, fmt.Errorf("table %s: column %s is invisible on %s alone: until all show it, it is left out of SELECT *, and of INSERT without a list of columns", c.name, name, strings.Join(in, ", ")))
	}
	return warnings
}
