package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"locus/router"
	"locus/router/catalog"
)

// integerWidth matches the width of an integer type. MariaDB writes it and MySQL no longer does. It has a meaning for ZEROFILL only.
var integerWidth = regexp.MustCompile(`^((?:tiny|small|medium|big)?int)\(\d+\)`)

// fullType returns a type in the same form for both engines.
func fullType(columnType string) string {
	return integerWidth.ReplaceAllString(strings.ToLower(columnType), "$1")
}

// copies contains the same table on several shards, in the order of the shards' names.
type copies struct {
	name   catalog.TableName
	shards []router.ShardName
	tables []*liveTable // nil if it doesn't exist
}

// compare returns the differences between the copies and the first one, with their remedies.
func (c *copies) compare() []error {
	if missing := c.missing(); missing != nil {
		return missing
	}
	var problems []error
	for i := 1; i < len(c.tables); i++ {
		problems = append(problems, c.compareTo(i)...)
	}
	return problems
}

func (c *copies) missing() []error {
	var without, with []string
	for i, t := range c.tables {
		if t == nil {
			without = append(without, string(c.shards[i]))
		} else {
			with = append(with, string(c.shards[i]))
		}
	}
	switch {
	case without == nil:
		return nil
	case with == nil:
		return []error{&catalog.MissingTableError{Shards: strings.Join(without, ", ")}}
	}
	return []error{fmt.Errorf("it doesn't exist on %s: create it there as SHOW CREATE TABLE %s gives it on %s",
		strings.Join(without, ", "), c.name, with[0])}
}

// removePartialGene removes the column for the gene from the copies that have it, if others don't. The column is being added, and counts as
// missing until all have it.
func (c *copies) removePartialGene() {
	lacks := slices.ContainsFunc(c.tables, func(t *liveTable) bool { return t != nil && t.find(catalog.OwnGene) == nil })
	for i, t := range c.tables {
		if lacks && t != nil && t.find(catalog.OwnGene) != nil {
			without := *t
			without.columns = slices.DeleteFunc(slices.Clone(t.columns), func(c liveColumn) bool { return c.Name == catalog.OwnGene })
			c.tables[i] = &without
		}
	}
}

// compareTo compares the i-th copy with the first.
func (c *copies) compareTo(i int) []error {
	var problems []error
	model, other := c.tables[0], c.tables[i]
	here, there := c.shards[0], c.shards[i]
	if model.kind != other.kind {
		return []error{fmt.Errorf("it is a %s on %s and a %s on %s", strings.ToLower(model.kind), here, strings.ToLower(other.kind), there)}
	}
	for _, m := range model.columns {
		o := other.find(m.Name)
		if o == nil {
			problems = append(problems, fmt.Errorf("column %s: %s has it and %s does not: add it on %s, or drop it everywhere", m.Name, here, there, there))
		} else if *o != m {
			problems = append(problems, fmt.Errorf("column %s: it is %s on %s and %s on %s: ALTER TABLE %s MODIFY it so that both agree",
				m.Name, m.describe(*o), here, o.describe(m), there, c.name))
		}
	}
	for _, o := range other.columns {
		if model.find(o.Name) == nil {
			problems = append(problems, fmt.Errorf("column %s: %s has it and %s does not: add it on %s, or drop it everywhere", o.Name, there, here, here))
		}
	}
	if problems == nil && !slices.Equal(model.columnNames(), other.columnNames()) {
		problems = append(problems, fmt.Errorf("the order of columns is (%s) on %s and (%s) on %s: an INSERT without a column list would mix them up: ALTER TABLE %s MODIFY … AFTER …",
			strings.Join(model.columnNames(), ", "), here, strings.Join(other.columnNames(), ", "), there, c.name))
	}
	return problems
}

func (t *liveTable) find(name string) *liveColumn {
	for i := range t.columns {
		if t.columns[i].Name == name {
			return &t.columns[i]
		}
	}
	return nil
}

func (t *liveTable) columnNames() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.Name
	}
	return names
}

// describe returns the type and all other attributes in which the column differs from the other one.
func (c liveColumn) describe(other liveColumn) string {
	words := []string{c.fullType}
	for _, part := range []struct {
		differs   bool
		yes       bool
		word, not string
	}{
		{c.Collation != other.Collation, true, "COLLATE " + c.Collation, ""},
		{c.Nullable != other.Nullable, c.Nullable, "NULL", "NOT NULL"},
		{c.HasDefault != other.HasDefault, c.HasDefault, "with a default", "without default"},
		{c.AutoIncrement != other.AutoIncrement, c.AutoIncrement, "AUTO_INCREMENT", "without AUTO_INCREMENT"},
		{c.Generated != other.Generated, c.Generated, "GENERATED", "not generated"},
		{c.Invisible != other.Invisible, c.Invisible, "INVISIBLE", "visible"},
		{c.PadSpace != other.PadSpace, c.PadSpace, "PAD SPACE", "NO PAD"},
		{c.HasDefault == other.HasDefault && c.filled != other.filled, true, "DEFAULT " + c.filled, ""},
	} {
		switch {
		case part.differs && part.yes:
			words = append(words, part.word)
		case part.differs:
			words = append(words, part.not)
		}
	}
	return strings.Join(words, " ")
}
