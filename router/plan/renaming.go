package plan

import (
	"errors"

	"locus/router/catalog"
	"locus/router/stmt"
)

// planRenaming plans RENAME TABLE and ALTER TABLE … RENAME of tables that are on every shard. It returns nil, nil for other tables.
func (c Context) planRenaming(s *stmt.Statement) (Plan, error) {
	if s.Renames == nil {
		return nil, nil
	}
	list := make([]catalog.Rename, len(s.Renames))
	meanwhile := map[catalog.TableName]bool{}
	every, other := catalog.TableName{}, catalog.TableName{}
	for i, r := range s.Renames {
		list[i] = catalog.Rename{From: c.fullName(r.From), To: c.fullName(r.To)}
		if meanwhile[list[i].From] {
			continue // an earlier rename in the list uses this name as its new name
		}
		meanwhile[list[i].To] = true
		on, err := c.onEveryShardOrRenaming(r.From)
		switch {
		case err != nil:
			return nil, err
		case on && s.IfExists && c.Catalog.Missing(list[i].From):
			return nil, refuse(Unsupported, "RENAME TABLE IF EXISTS of declared table %s, which no shard has: leave it out", list[i].From)
		case on:
			every = list[i].From
		default:
			other = list[i].From
		}
	}
	switch {
	case every == catalog.TableName{}:
		return nil, nil
	case other != catalog.TableName{}:
		return nil, refuse(Unsupported, "%s of table %s, which is on every shard, and of %s, which is on one: write one statement for each", s.Verb, every, other)
	case !s.RenamesAlone:
		return nil, refuse(Unsupported, "an ALTER TABLE that renames table %s, which is on every shard, does nothing else: rename it by itself", every)
	}
	net, err := catalog.NetRenames(list)
	if err != nil {
		return nil, refuse(Unsupported, "%s of table %s, which is on every shard: %v", s.Verb, every, err)
	}
	return &Definition{Facts: Facts{Writes: true}, Renames: net}, c.checkRenames(net)
}

// onEveryShardOrRenaming reports whether a table is on every shard, or is being renamed on every shard.
func (c Context) onEveryShardOrRenaming(name stmt.TableName) (bool, error) {
	if d, is := c.Catalog.Declared(c.fullName(name)); is && !c.isTemporary(c.fullName(name)) {
		return d.Kind != catalog.Single && d.Kind != catalog.Outside, nil
	}
	_, err := c.find(name)
	return false, err
}

// checkRenames refuses a new name that another known table has.
func (c Context) checkRenames(net []catalog.Rename) error {
	froms := map[catalog.TableName]bool{}
	for _, r := range net {
		froms[r.From] = true
	}
	for _, r := range net {
		_, taken := c.Catalog.Declared(r.To)
		if renaming := c.renamingError(r.To); renaming != nil {
			taken = false // this statement may finish that renaming
		}
		if taken && !froms[r.To] {
			return refuse(Undeclarable, "table %s can't be called %s, which is declared: drop that table, and take its declaration away by locus table drop %s", r.From, r.To, r.To)
		}
		if _, err := c.find(stmt.TableName(r.To)); err != nil && !taken && c.renamingError(r.To) == nil {
			return err
		}
		if err := c.checkDeclarableName(r.To); err != nil {
			return err
		}
	}
	return nil
}

// renamingError returns the error of a table that is being renamed, or nil if the table is not.
func (c Context) renamingError(name catalog.TableName) *catalog.RenamingError {
	unfit := c.Catalog.Unfit(name)
	if unfit == nil {
		return nil
	}
	e, _ := errors.AsType[*catalog.RenamingError](unfit.Err)
	return e
}

// planLike plans CREATE TABLE … LIKE a table that is on every shard. The new table gets the declaration of the other. It returns
// nil, nil for other statements, and if the new table is already declared.
func (c Context) planLike(s *stmt.Statement) (Plan, error) {
	if s.Like == nil || s.Features&stmt.MakesTable == 0 {
		return nil, nil
	}
	name := c.fullName(s.Tables[0])
	if _, is := c.Catalog.Declared(name); is {
		return nil, nil
	}
	like, err := c.find(*s.Like)
	if err != nil || like == nil || like.Kind == catalog.Single {
		return nil, err
	}
	if like.Lookup != nil {
		return nil, refuse(Indexed, "CREATE TABLE %s like %s, which contains the entries of a look-up index: write its columns out", name, like.TableName)
	}
	if _, err := c.find(s.Tables[0]); err != nil {
		return nil, err
	}
	if err := c.checkDeclarableName(name); err != nil {
		return nil, err
	}
	return &Definition{Facts: Facts{Writes: true}, Declares: &Declaring{name, like.Declaration, false}}, nil
}
