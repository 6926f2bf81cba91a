package plan

import (
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// planPlainInsert plans an INSERT into a table that is not sharded.
func planPlainInsert(s *stmt.Statement, t *catalog.Table, ctx Context) (Plan, error) {
	facts := Facts{
		Writes: true, KeepsInsertID: true, Cacheable: true,
		ReadsInsertID: s.Features&(stmt.ReadsInsertID|stmt.Returning) != 0, // an answer with rows doesn't contain the generated ID
	}
	one := &OneShard{Facts: facts, Shard: ctx.Catalog.First()}
	if t != nil && t.Kind == catalog.Single {
		one.Shard = t.Shard
	}
	p, all := Plan(one), (*Global)(nil)
	if t != nil && t.Kind == catalog.Global {
		all = &Global{Facts: facts}
		all.KeepsInsertID = false
		if err := all.checkAlike(s, t); err != nil {
			return nil, err
		}
		in, err := planCopies(s.Insert, t)
		if err != nil {
			return nil, err
		}
		p, all.Insert = all, in
		if all.Added, err = listedCopies(s.Insert, in, t); err != nil {
			return nil, err
		}
		all.Added = append(all.Added, in.aliased(s.Insert)...)
	}
	if len(s.Blocks) == 0 {
		return p, nil
	}
	err := checkInsertSelect(s, ctx, one.Shard, all)
	if isCrossShard(err) && t != nil && len(t.Columns) > 0 && s.Insert.FromSelect && len(s.Insert.Update) == 0 {
		columns, err := columnsOf(s.Insert, t)
		if err != nil {
			return nil, err
		}
		return planInsertQuery(*p.About(), s, t, columns, ctx)
	}
	return p, err
}

// isCrossShard reports whether err is the refusal of a query whose rows are on other shards than the table's.
func isCrossShard(err error) bool {
	r, ok := err.(*Refusal) //nolint:errorlint // it is never wrapped
	return ok && r.Code == CrossShard
}

// checkInsertSelect refuses a query in an INSERT unless the tables of both are on one shard, or on all shards.
func checkInsertSelect(s *stmt.Statement, ctx Context, shard router.ShardName, all *Global) error {
	if all != nil && s.Insert.FromSelect && (s.Insert.Ignore || s.Kind == stmt.Replace || len(s.Insert.Update) > 0) {
		return refuse(Unsupported, "rows of a query that replace each other in a global table, in whichever order a shard finds them: read the rows, then insert them")
	}
	sc, err := newScope(s, ctx)
	if err != nil {
		return err
	}
	if all != nil && all.Insert.Numbered() != nil && s.Insert.FromSelect {
		return refuse(CrossShard, "INSERT from a query into global table %s, whose column %s is AUTO_INCREMENT: read the rows, then insert them", all.Insert.Table.TableName, all.Insert.Numbered().Name)
	}
	for i := range sc.nodes {
		n := &sc.nodes[i]
		switch {
		case n.ref.Derived:
		case n.sharded():
			return refuse(CrossShard, "INSERT from a query on sharded table %s: read the rows, then insert them", n.table.TableName)
		case n.global():
		case all != nil:
			return refuse(CrossShard, "INSERT into a global table from a table that is not on every shard: read the rows, then insert them")
		case sc.shardOf(n) != shard:
			return refuse(CrossShard, "INSERT into a table of shard %s from a table of shard %s: read the rows, then insert them", shard, sc.shardOf(n))
		}
	}
	return nil
}

// shardOf returns the shard of a table that is neither sharded nor global.
func (sc *scope) shardOf(n *node) router.ShardName {
	if n.table != nil {
		return n.table.Shard
	}
	return sc.ctx.Catalog.First()
}

// onDuplicate checks ON DUPLICATE KEY UPDATE, and returns the insertion that raises the version.
func onDuplicate(s *stmt.Statement, t *catalog.Table) ([]Splice, error) {
	if len(s.Insert.Update) == 0 {
		return nil, nil
	}
	versioned := false
	for _, a := range s.Insert.Update {
		i, ok := t.Column(a.Column.Name)
		if !ok {
			return nil, refuse(UnknownColumn, "Unknown column '%s' in table %s", a.Column.Name, t.TableName)
		}
		if _, isKey := t.KeyOf(a.Column.Name); isKey && !a.Same {
			return nil, refuse(KeyChange, "ON DUPLICATE KEY UPDATE of column %s, which decides where a row of %s lives: leave it out", a.Column.Name, t.TableName)
		}
		versioned = versioned || i == t.VersionColumn
	}
	if t.VersionColumn < 0 || versioned {
		return nil, nil
	}
	column := quote(t.Columns[t.VersionColumn].Name)
	if s.Insert.As != nil { // the rows may have a column of that name too
		column = quote(s.Insert.Table.Name) + "." + column
	}
	return []Splice{{s.Insert.End, ", " + column + " = " + column + " + 1"}}, nil
}
