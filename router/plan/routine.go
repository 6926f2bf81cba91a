package plan

import (
	"slices"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// routine plans the definition of a procedure or function. It is made on every shard if its text names nothing that is on the default
// shard alone, so that it can be called for rows wherever they are; else on the default shard alone. Nil: it is another statement, or the default shard's.
func (c Context) routine(l *stmt.Lexed, facts Facts) (Plan, error) {
	d, is := l.DefinesRoutine()
	if !is || len(c.Catalog.Shards) == 1 {
		return nil, nil
	}
	name := catalog.TableName{Schema: c.schemaOf(d.Name), Name: d.Name.Name}
	has, lack := c.Catalog.StoredOn(name.Schema, name.Schema, name.Name)
	elsewhere := slices.ContainsFunc(has, func(s router.ShardName) bool { return s != c.Catalog.First() })
	if d.Creates {
		home, alone := c.Catalog.AtHome(c.Schema, namesIn(l), name)
		switch {
		case alone && elsewhere:
			return nil, refuse(TooFar, "%s is on shard %s, and would be on %s alone, since it names %s: DROP %s it first, or take another name",
				name, catalog.List(has), c.Catalog.First(), home, d.Kind)
		case alone:
			return nil, nil
		case d.IfNotExists && has != nil && lack != nil:
			return nil, refuse(TooFar, "%s is on shard %s alone, and may be another one there: DROP %s it first, or CREATE OR REPLACE it", name, catalog.List(has), d.Kind)
		}
	} else if !elsewhere {
		return nil, nil
	}
	facts.Statement.Defined = &d
	return &Definition{Facts: facts}, nil
}

// namesIn are the words of a text, in lower case and without quotes.
func namesIn(l *stmt.Lexed) (names []string) {
	l.Words(func(word []byte) { names = append(names, bare(word)) })
	return names
}
