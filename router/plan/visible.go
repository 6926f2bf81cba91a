package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/router/stmt"
)

// naming contains the columns of information_schema or SHOW that name the object of a row. Without a table column a row
// describes a whole database. If within is true, it describes an object in a database, and a user who may use only a part of
// the database doesn't see it.
type naming struct {
	schema, table string
	within        bool
	like          string // the column that LIKE applies to, if not the table's
}

// described are the tables of information_schema in which users with rights see only rows about objects that they may use.
var described = map[string]naming{
	"schemata": {schema: "SCHEMA_NAME"},
	"tables":   {schema: "TABLE_SCHEMA", table: "TABLE_NAME"}, "columns": {schema: "TABLE_SCHEMA", table: "TABLE_NAME"},
	"statistics": {schema: "TABLE_SCHEMA", table: "TABLE_NAME"}, "partitions": {schema: "TABLE_SCHEMA", table: "TABLE_NAME"},
	"views": {schema: "TABLE_SCHEMA", table: "TABLE_NAME"}, "table_constraints": {schema: "TABLE_SCHEMA", table: "TABLE_NAME"},
	"key_column_usage":        {schema: "TABLE_SCHEMA", table: "TABLE_NAME"},
	"referential_constraints": {schema: "CONSTRAINT_SCHEMA", table: "TABLE_NAME"},
	"triggers":                {schema: "EVENT_OBJECT_SCHEMA", table: "EVENT_OBJECT_TABLE"},
	"check_constraints":       {schema: "CONSTRAINT_SCHEMA", within: true},
	"routines":                {schema: "ROUTINE_SCHEMA", within: true},
	"parameters":              {schema: "SPECIFIC_SCHEMA", within: true},
	"events":                  {schema: "EVENT_SCHEMA", within: true},
}

// general are the tables that describe no databases.
var general = map[string]bool{
	"character_sets": true, "collations": true, "collation_character_set_applicability": true, "engines": true, "plugins": true,
	"keywords": true, "sql_functions": true, "profiling": true,
	"processlist": true, "session_variables": true, "global_variables": true, "session_status": true, "global_status": true, "system_variables": true,
}

// shown are the columns of SHOW. The column of SHOW TABLES has the database's name appended.
var shown = map[string]naming{
	"databases": {schema: "Database", like: "Database"}, "open tables": {schema: "Database", table: "Table"},
	"tables": {table: "Tables_in_"}, "table status": {table: "Name"}, "triggers": {table: "Table"},
	"events":           {schema: "Db", within: true, like: "Name"},
	"procedure status": {schema: "Db", within: true, like: "Name"},
	"function status":  {schema: "Db", within: true, like: "Name"},
}

// narrow changes a statement that lists objects so that it returns the objects that the user may use.
func (r *Rights) narrow(l *stmt.Lexed, p Plan, ctx Context) error {
	if r == nil || r.Databases == nil && r.Tables == nil {
		return describe(l, p, ctx)
	}
	s := p.About().Statement
	one, _ := p.(*OneShard)
	if s.Kind == stmt.Show {
		if one != nil { // otherwise it shows how servers are built
			r.narrowShow(one, ctx)
		}
		return nil
	}
	asks := false
	for _, t := range TablesOf(s) {
		if !strings.EqualFold(ctx.schemaOf(t), "information_schema") || general[strings.ToLower(t.Name)] {
			continue
		}
		if _, ok := described[strings.ToLower(t.Name)]; !ok || s.Kind != stmt.Select {
			return r.deniedTable("SELECT", t.Name)
		}
		asks = true
	}
	if !asks {
		return nil
	}
	return r.narrowSelect(l, one, ctx)
}

// narrowSelect replaces each table by a derived table with the rows that the user may see.
func (r *Rights) narrowSelect(l *stmt.Lexed, p *OneShard, ctx Context) error {
	places, err := stmt.FindPlaces(l)
	if err != nil || p == nil || len(p.Added) > 0 {
		return r.denyUnread(fmt.Errorf("a statement about information_schema of this shape is not taken apart"))
	}
	for _, at := range places.Tables {
		t := at.Block.Tables[at.Index]
		name, ok := described[strings.ToLower(t.Name)]
		if !ok || !strings.EqualFold(ctx.schemaOf(t.TableName), "information_schema") {
			continue
		}
		condition := r.visible(name)
		if genes := ctx.withoutGenes("", t.Name); genes != "" {
			condition += " AND " + genes
		}
		if ctx.sums(t.TableName) && namesSizes(places) {
			p.Summed = append(p.Summed, summed(l, at, condition))
			continue
		}
		p.Added = append(p.Added, among(l, at, condition)...)
	}
	p.Added = append(p.Added, fieldNames(l, places, slices.Concat(p.Added, openings(p.Summed)), ctx.SourceNames)...)
	slices.SortStableFunc(p.Added, func(a, b Splice) int { return l.Offset(a.At) - l.Offset(b.At) })
	return checkQualified(places, p.Summed)
}

// among replaces a table by its rows that satisfy a condition.
func among(l *stmt.Lexed, at stmt.TablePlace, condition string) []Splice {
	name := quote(at.Block.Tables[at.Index].Name)
	before, behind := "(SELECT * FROM ", " WHERE "+condition+")"
	if at.Statement {
		before = "SELECT * FROM (" // … TABLE name
		behind = ") AS " + name + " WHERE " + condition
	} else if !l.Aliased(l.Offset(at.End)) {
		behind += " AS " + name
	}
	return []Splice{{at.Start, before}, {at.End, behind}}
}

// narrowShow adds a condition to a SHOW. A SHOW about a single database gets none if the user may use all of the database.
func (r *Rights) narrowShow(p *OneShard, ctx Context) {
	list := p.Statement.Listed
	if list == nil {
		return
	}
	name := shown[list.What]
	schema := p.Statement.Schema
	if schema == "" {
		schema = ctx.Schema
	}
	if list.What == "tables" {
		name.table += schema
	}
	condition := ""
	switch {
	case name.schema != "":
		condition = r.visible(name)
	case r.allowsDatabase(schema):
		return
	default:
		condition = within(name.table, r.tablesIn(schema))
	}
	f := list.Filter
	switch {
	case list.Like:
		p.Added = append(p.Added, Splice{f.Open, "WHERE " + quote(cmp.Or(name.like, name.table)) + " "}, Splice{f.Close, " AND " + condition})
	case f.There:
		p.Added = append(p.Added, Splice{f.Open, " ("}, Splice{f.Close, ") AND " + condition})
	default:
		p.Added = append(p.Added, Splice{f.Open, " WHERE " + condition})
	}
}

// visible returns the condition that a row is about an object that the user may use.
func (r *Rights) visible(name naming) string {
	whole := slices.Sorted(maps.Keys(r.Databases))
	whole = append(whole, "information_schema", "INFORMATION_SCHEMA")
	parts := map[string]bool{}
	for t := range r.Tables {
		if !r.Databases[t.Schema] {
			parts[t.Schema] = true
		}
	}
	some := slices.Sorted(maps.Keys(parts))
	if name.table == "" {
		if !name.within {
			whole = append(whole, some...)
		}
		return within(name.schema, whole)
	}
	condition := "(" + within(name.schema, whole)
	for _, schema := range some {
		condition += " OR " + within(name.schema, []string{schema}) + " AND " + within(name.table, r.tablesIn(schema))
	}
	return condition + ")"
}

// tablesIn returns the tables of a database that the user may use individually.
func (r *Rights) tablesIn(schema string) []string {
	var names []string
	for t := range r.Tables {
		if t.Schema == schema {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return names
}

// within returns the condition that a column has one of the names. It compares bytes, so that neither a collation nor a client's
// character set changes a name.
func within(column string, names []string) string {
	if len(names) == 0 {
		return "FALSE"
	}
	literals := make([]string, len(names))
	for i, name := range names {
		literals[i] = fmt.Sprintf("X'%x'", name)
	}
	return "CAST(" + quote(column) + " AS BINARY) IN (" + strings.Join(literals, ", ") + ")"
}
