package schema

import (
	"fmt"
	"slices"
	"strings"

	"locus/router/catalog"
)

// alignColumns makes all copies alike if they differ only by columns that a row may omit. That is so while an operator adds or drops a column
// shard by shard. It removes the columns that only some copies have, and hides those that only some show. A statement without column
// names then uses the columns that all copies show. level returns the differences.
func (c *copies) alignColumns(d catalog.Declaration) (u catalog.Unevenness) {
	if slices.Contains(c.tables, nil) {
		return u
	}
	for _, t := range c.tables {
		for _, column := range t.columns {
			here, hidden := c.countColumn(column.Name)
			switch {
			case slices.ContainsFunc(u.Partial, func(p catalog.Column) bool { return p.Name == column.Name }):
			case here < len(c.tables) && isOmissible(column, d):
				u.Partial = append(u.Partial, column.Column)
			case here == len(c.tables) && hidden > 0 && hidden < here && isOmissible(column, d):
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
		c.tables[i] = t.aligned(u)
	}
	return u
}

// countColumn returns the number of copies that have a column, and the number of those in which it is invisible.
func (c *copies) countColumn(column string) (n, hidden int) {
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

// isOmissible reports whether a statement may omit a column on the shards that have it, with the same effect as on a single server. In copies of
// a row, the default must have the same value.
func isOmissible(c liveColumn, d catalog.Declaration) bool {
	return c.HasDefault && !c.AutoIncrement && d.RoleOf(c.Name) == "" && c.Name != catalog.OwnGene && (d.Kind != catalog.Global || c.Default != catalog.Anew)
}

func (t *liveTable) aligned(u catalog.Unevenness) *liveTable {
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

// unevenWarnings returns the warnings about copies with these differences.
func (c *copies) unevenWarnings(u catalog.Unevenness, raw []*liveTable) []error {
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
