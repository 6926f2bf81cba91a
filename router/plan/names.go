package plan

import (
	"errors"
	"slices"

	"locus/router/catalog"
	"locus/router/stmt"
)

// checkNames refuses names that the shards don't have as the statement means them. Servers would find something by each name, but
// possibly not all that the name means.
func (c Context) checkNames(s *stmt.Statement) error {
	for _, call := range s.Called {
		if err := c.catalogRefusal(c.Catalog.CallError(c.Schema, call.Schema, call.Name)); err != nil {
			return err
		}
		if err := c.checkStored(s, call); err != nil {
			return err
		}
	}
	switch s.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete:
		return c.checkRows(s)
	case stmt.LoadData:
		return c.checkEach(s.Tables, c.Catalog.Reading, c.Catalog.Writing, c.Catalog.Unindexed)
	case stmt.DDL, stmt.Other:
		return c.checkDefinedNames(s)
	case stmt.Lock:
		return c.checkLocks(s)
	default:
		return nil
	}
}

// checkStored refuses a routine that is missing on a shard that may have the rows.
func (c Context) checkStored(s *stmt.Statement, call stmt.Called) error {
	has, lack := c.Catalog.StoredOn(c.Schema, call.Schema, call.Name)
	if len(has) == 0 || len(lack) == 0 {
		return nil
	}
	for _, name := range TablesOf(s) {
		t, err := c.find(name)
		if err != nil {
			return err
		}
		switch {
		case t == nil, t.Kind == catalog.Single && !slices.Contains(lack, t.Shard), t.Kind == catalog.Global && s.Kind == stmt.Select && !slices.Contains(lack, c.Catalog.First()):
			continue
		}
		return refuse(TooFar, "%s is stored on shard %s alone, and rows of %s are on others: write what it computes in the place of its name, or DROP it and CREATE it again so that it names nothing that one shard alone has: then it is on all",
			catalog.TableName{Schema: c.schemaOf(call.TableName), Name: call.Name}, catalog.List(has), t)
	}
	return nil
}

// checkEach returns the first error of the checks of these tables. It skips temporary tables of the session.
func (c Context) checkEach(names []stmt.TableName, ask ...func(catalog.TableName) error) error {
	for _, name := range names {
		full := c.fullName(name)
		if c.isTemporary(full) {
			continue
		}
		for _, a := range ask {
			if err := c.catalogRefusal(a(full)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c Context) checkRows(s *stmt.Statement) error {
	if err := c.checkEach(TablesOf(s), c.Catalog.Reading); err != nil {
		return err
	}
	var written []stmt.TableName
	if s.Insert != nil {
		written = append(written, s.Insert.Table)
	}
	for _, b := range s.Blocks {
		for _, t := range b.Tables {
			if t.Written && !t.Derived {
				written = append(written, t.TableName)
			}
		}
	}
	return c.checkEach(written, c.Catalog.Writing, c.Catalog.Unindexed)
}

// checkDefinedNames checks the names that a definition creates or uses.
func (c Context) checkDefinedNames(s *stmt.Statement) error {
	names := slices.DeleteFunc(slices.Clone(s.Tables), func(n stmt.TableName) bool { return slices.Contains(s.Created, n) })
	if c.viewEverywhere(s) {
		return nil
	}
	if s.View && s.Verb == "DROP" {
		return c.checkDroppedViews(names)
	}
	if s.View && len(names) > 0 {
		if err := c.checkView(names[0], names[1:]); err != nil {
			return err
		}
		names = names[1:]
	}
	// DROP TABLE of a view does nothing, and the server returns that. Dumps write it before each view.
	return c.checkEach(slices.DeleteFunc(names, func(n stmt.TableName) bool { return slices.Contains(s.Dropped, n) && c.isFarView(n) }), c.Catalog.Reading)
}

// checkView refuses a view that would read tables that its shard doesn't have.
func (c Context) checkView(view stmt.TableName, names []stmt.TableName) error {
	for _, name := range names {
		t, err := c.find(name)
		if err != nil {
			return err
		}
		if t != nil && t.Kind != catalog.Single {
			return c.catalogRefusal(catalog.NewFarViewError(c.fullName(view), string(t.Kind)+" table "+t.String()))
		}
	}
	return nil
}

// checkDroppedViews allows DROP of views that are on the default shard alone, whatever tables they read.
func (c Context) checkDroppedViews(names []stmt.TableName) error {
	for _, name := range names {
		if shards := c.Catalog.On(c.fullName(name)); len(shards) > 1 {
			return refuse(Ambiguous, "view %s is on shards %s: drop it in a statement of its own, or with others that are there too", c.fullName(name), catalog.List(shards))
		}
	}
	return nil
}

// FullName returns the name of a table that a statement names, given the default database.
func FullName(t stmt.TableName, schema string) catalog.TableName {
	if t.Schema == "" {
		t.Schema = schema
	}
	return catalog.TableName{Schema: t.Schema, Name: t.Name}
}

// fullName returns a table's name with its schema.
func (c Context) fullName(name stmt.TableName) catalog.TableName {
	return catalog.TableName{Schema: c.schemaOf(name), Name: name.Name}
}

// isTemporary reports whether a temporary table of the session has this name. Servers find temporary tables before all other
// tables.
func (c Context) isTemporary(name catalog.TableName) bool { return slices.Contains(c.Temporary, name) }

// catalogRefusal returns the refusal for an error of the catalog about a name, or nil.
func (c Context) catalogRefusal(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*catalog.AmbiguousError](err); ok {
		return refuse(Ambiguous, "%v", err)
	}
	if _, ok := errors.AsType[*catalog.MisspelledError](err); ok {
		return refuse(BrokenTable, "%v", err)
	}
	if _, ok := errors.AsType[*catalog.UnindexedError](err); ok {
		return refuse(BrokenTable, "%v", err)
	}
	return refuse(TooFar, "%v", err)
}

// noteStored marks the statement if it calls functions that are stored on some shard. That includes those with the name of a
// function that is built in in another version of the servers.
func (c Context) noteStored(s *stmt.Statement) {
	for _, call := range s.Called {
		if call.Own && c.Catalog.Stores(c.Schema, call.Schema, call.Name) {
			s.Features |= stmt.UnknownFunction | stmt.Volatile
		}
	}
}

// UnlistedRoutine reports whether a statement calls a routine that no shard had when the shards were last polled. It may be built
// in.
func (f *Facts) UnlistedRoutine(c Context) bool {
	return c.Catalog.Listed() && slices.ContainsFunc(f.Statement.Called, func(call stmt.Called) bool {
		return !call.Own && !c.Catalog.Stores(c.Schema, call.Schema, call.Name)
	})
}

// UnlistedTable reports the same of a table or view that the statement reads or changes.
func (f *Facts) UnlistedTable(c Context) bool {
	switch f.Statement.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete, stmt.LoadData, stmt.Lock, stmt.Other:
	default:
		return false
	}
	return slices.ContainsFunc(TablesOf(f.Statement), func(name stmt.TableName) bool {
		full := c.fullName(name)
		return full.Schema != "" && !c.isTemporary(full) && !c.Catalog.Knows(full)
	})
}

// checkProgramReach refuses the definition of a routine, trigger or event that would use tables that its shard doesn't have.
func (c Context) checkProgramReach(l *stmt.Lexed, reach *stmt.Reach) error {
	if mention := mentioned(l, c); mention != "" {
		return refuse(TooFar, "a stored program that names %s, of which it would find one shard's rows: send the statements of its body themselves", mention)
	}
	if reach.Dynamic != "" {
		return refuse(TooFar, "a stored program with dynamic SQL (PREPARE, EXECUTE), whose tables can't be known: write its statements as they are")
	}
	return nil
}
