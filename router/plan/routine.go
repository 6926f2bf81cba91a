package plan

import (
	"slices"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// planRoutine plans the definition of a procedure or function. The routine is created on every shard if its text names nothing that
// is on the default shard only, so that it can be called for any row. Otherwise it is created on the default shard only. It is
// not known whether an unreachable shard has a routine of this name, and an old one must not remain there. routine returns nil,
// nil for other statements, and if the default shard runs it.
func (c Context) planRoutine(l *stmt.Lexed, facts Facts) (Plan, error) {
	d, is := l.DefinesRoutine()
	if is {
		facts.Statement.Defined = &d
	}
	if !is || len(c.Catalog.Shards) == 1 || !c.Catalog.Listed() {
		return nil, nil
	}
	name := catalog.TableName{Schema: c.schemaOf(d.Name), Name: d.Name.Name}
	has, lack := c.Catalog.StoredOn(name.Schema, name.Schema, name.Name)
	unasked := slices.DeleteFunc(slices.Clone(c.Catalog.Shards), func(s router.ShardName) bool { return slices.Contains(has, s) || slices.Contains(lack, s) })
	elsewhere := slices.ContainsFunc(has, func(s router.ShardName) bool { return s != c.Catalog.First() })
	switch home, alone := c.Catalog.OnDefaultShard(c.Schema, namesIn(l), name); {
	case !d.Creates && !elsewhere && len(unasked) == 0:
		return nil, nil
	case !d.Creates:
	case alone && elsewhere:
		return nil, refuse(TooFar, "%s is on shard %s, and would be on %s alone, since it names %s: DROP %s it first, or take another name",
			name, catalog.List(has), c.Catalog.First(), home, d.Kind)
	case alone && d.Replaces && len(unasked) > 0:
		return nil, refuse(TooFar, "%s would be on %s alone, since it names %s, and whether it is on shard %s too is not known, which could not be asked yet: repeat the statement once that is there",
			name, c.Catalog.First(), home, catalog.List(unasked))
	case alone:
		return nil, nil
	case d.IfNotExists && has != nil && lack != nil:
		return nil, refuse(TooFar, "%s is on shard %s alone, and may be another one there: DROP %s it first, or CREATE OR REPLACE it", name, catalog.List(has), d.Kind)
	}
	return &Definition{Facts: facts}, nil
}

// namesIn returns the words of a text, in lower case and without quotes.
func namesIn(l *stmt.Lexed) (names []string) {
	l.Words(func(word []byte) { names = append(names, unquoted(word)) })
	return names
}
