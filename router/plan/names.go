package plan

import (
	"errors"
	"slices"

	"locus/router/catalog"
	"locus/router/stmt"
)

// closed refuses names that the shards don't have as the statement means them. Servers would find something by each name, but
// possibly not all that the name means.
func (c Context) closed(s *stmt.Statement) error {
	for _, call := range s.Called {
		if err := c.closedError(c.Catalog.Calling(c.Schema, call.Schema, call.Name)); err != nil {
			return err
		}
		if err := c.stored(s, call); err != nil {
			return err
		}
	}
	switch s.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete:
		return c.closedRows(s)
	case stmt.LoadData:
		return c.each(s.Tables, c.Catalog.Reading, c.Catalog.Writing)
	case stmt.DDL, stmt.Other:
		return c.closedDefinition(s)
	case stmt.Lock:
		return c.closedLocks(s)
	default:
		return nil
	}
}

// stored refuses a routine that is missing on a shard that may have the rows.
func (c Context) stored(s *stmt.Statement, call stmt.Called) error {
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

// each returns the first error of the checks of these tables. It skips temporary tables of the session.
func (c Context) each(names []stmt.TableName, ask ...func(catalog.TableName) error) error {
	for _, name := range names {
		full := c.full(name)
		if c.temporary(full) {
			continue
		}
		for _, a := range ask {
			if err := c.closedError(a(full)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c Context) closedRows(s *stmt.Statement) error {
	if err := c.each(TablesOf(s), c.Catalog.Reading); err != nil {
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
	return c.each(written, c.Catalog.Writing)
}

// closedDefinition checks what a definition creates and names.
func (c Context) closedDefinition(s *stmt.Statement) error {
	names := slices.DeleteFunc(slices.Clone(s.Tables), func(n stmt.TableName) bool { return slices.Contains(s.Created, n) })
	if c.viewEverywhere(s) {
		return nil
	}
	if s.View && s.Verb == "DROP" {
		return c.droppedViews(names)
	}
	if s.View && len(names) > 0 {
		if err := c.withinView(names[0], names[1:]); err != nil {
			return err
		}
		names = names[1:]
	}
	// DROP TABLE of a view does nothing, and the server returns that. Dumps write it before each view.
	return c.each(slices.DeleteFunc(names, func(n stmt.TableName) bool { return slices.Contains(s.Dropped, n) && c.far(n) }), c.Catalog.Reading)
}

// withinView refuses a view that would read tables that its shard doesn't have.
func (c Context) withinView(view stmt.TableName, names []stmt.TableName) error {
	for _, name := range names {
		t, err := c.find(name)
		if err != nil {
			return err
		}
		if t != nil && t.Kind != catalog.Single {
			return c.closedError(catalog.FarView(c.full(view), string(t.Kind)+" table "+t.String()))
		}
	}
	return nil
}

// droppedViews allows DROP of views that are on the default shard alone, whatever tables they read.
func (c Context) droppedViews(names []stmt.TableName) error {
	for _, name := range names {
		if shards := c.Catalog.On(c.full(name)); len(shards) > 1 {
			return refuse(Ambiguous, "view %s is on shards %s: drop it in a statement of its own, or with others that are there too", c.full(name), catalog.List(shards))
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

// full returns a table's name with its schema.
func (c Context) full(name stmt.TableName) catalog.TableName {
	return catalog.TableName{Schema: c.schemaOf(name), Name: name.Name}
}

// temporary reports whether a name is that of a temporary table of the session. Servers find these before all other tables.
func (c Context) temporary(name catalog.TableName) bool { return slices.Contains(c.Temporary, name) }

// closedError returns the refusal for an error of the catalog about a name, or nil.
func (c Context) closedError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*catalog.AmbiguousError](err); ok {
		return refuse(Ambiguous, "%v", err)
	}
	if _, ok := errors.AsType[*catalog.MisspelledError](err); ok {
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
		full := c.full(name)
		return full.Schema != "" && !c.temporary(full) && !c.Catalog.Knows(full)
	})
}

// program refuses the definition of a routine, trigger or event that would use tables that its shard doesn't have.
func (c Context) program(l *stmt.Lexed, reach *stmt.Reach) error {
	if mention := mentioned(l, c); mention != "" {
		return refuse(TooFar, "a stored program that names %s, of which it would find one shard's rows: send the statements of its body themselves", mention)
	}
	if reach.Dynamic != "" {
		return refuse(TooFar, "a stored program with dynamic SQL (PREPARE, EXECUTE), whose tables can't be known: write its statements as they are")
	}
	return nil
}
