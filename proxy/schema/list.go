package schema

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/proxy/flavor"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Conditions that omit the schemas that each server has for itself, and the proxies' own schema.
const (
	withoutSystem = " NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', '" + stmt.Own + "')"
	withoutViews  = " NOT IN ('information_schema', 'performance_schema', '" + stmt.Own + "')"
	everySchema   = " IS NOT NULL"
)

// selection limits a query to some names of one schema. The zero selection has no limit.
type selection struct {
	schema string
	names  []string
}

// mostSingle is the number of names up to which each is read by queries of its own, see [server.selections].
const mostSingle = 32

// selections returns selections that contain the names: one for each schema or, on MariaDB, one for each of a few names. For a list of names
// MariaDB opens all tables of the schema.
func (s *server) selections(names []catalog.TableName) (list []selection) {
	if s.flavor == flavor.MariaDB && len(names) <= mostSingle {
		for _, n := range slices.SortedFunc(slices.Values(names), catalog.TableName.Compare) {
			list = append(list, selection{n.Schema, []string{n.Name}})
		}
		return list
	}
	bySchema := map[string][]string{}
	for _, n := range names {
		bySchema[n.Schema] = append(bySchema[n.Schema], n.Name)
	}
	for _, schema := range slices.Sorted(maps.Keys(bySchema)) {
		slices.Sort(bySchema[schema])
		list = append(list, selection{schema, bySchema[schema]})
	}
	return list
}

// where returns the condition on the columns with schema and name. Without a selection, the condition omits the schemas of leftOut. A constant
// schema keeps MariaDB from opening every table. A single constant name keeps it from listing the schema's directory.
func (s selection) where(schema, name, leftOut string) string {
	switch len(s.names) {
	case 0:
		return schema + leftOut
	case 1:
		return schema + " = " + text(s.schema) + " AND " + name + " = " + text(s.names[0])
	}
	quoted := make([]string, len(s.names))
	for i, n := range s.names {
		quoted[i] = text(n)
	}
	return schema + " = " + text(s.schema) + " AND " + name + " IN (" + strings.Join(quoted, ", ") + ")"
}

// query is a query of information_schema, and the function that processes each of its rows.
type query struct {
	sql string
	row func([][]byte) error
}

// runQueries sends all queries together, and passes their rows to the functions in order.
func runQueries(ctx context.Context, q Querier, queries []query) error {
	if len(queries) == 0 {
		return nil
	}
	statements := make([]string, len(queries))
	for i, one := range queries {
		statements[i] = one.sql
	}
	answers, err := queryEach(ctx, q, statements)
	if err != nil {
		return err
	}
	for i, one := range queries {
		for _, row := range answers[i] {
			if err := one.row(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// texts adapts a function that accepts rows as texts. NULL is the text null.
func texts(take func([]string)) func([][]byte) error {
	return func(row [][]byte) error {
		texts := make([]string, len(row))
		for i, value := range row {
			if texts[i] = string(value); value == nil {
				texts[i] = null
			}
		}
		take(texts)
		return nil
	}
}

// list reads the names of all objects of one server, and the texts of its stored code. The number of queries doesn't depend on the number of
// tables. before is an earlier listing, or nil.
func (s *server) list(ctx context.Context, q Querier, before *catalog.Listing) (*catalog.Listing, error) {
	l := newLister()
	everything := selection{}
	queries := slices.Concat(s.tableQueries(l, everything), s.viewQueries(l, everything), s.routineQueries(l, everything), []query{{
		"SELECT EVENT_SCHEMA, EVENT_NAME, 'EVENT', '', SQL_MODE, EVENT_DEFINITION, 'SQL' FROM information_schema.EVENTS", texts(l.program),
	}})
	if err := runQueries(ctx, q, queries); err != nil {
		return nil, err
	}
	return l.finished(before), nil
}

// tableQueries returns the queries of all base tables and everything that belongs to them.
func (s *server) tableQueries(l *lister, of selection) []query {
	return append([]query{
		{"SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES WHERE " +
			of.where("TABLE_SCHEMA", "TABLE_NAME", withoutSystem) + " AND TABLE_TYPE NOT LIKE '%VIEW'", texts(l.base)},
		{s.columnExpressions(of), texts(l.expression)},
	}, s.dependentQueries(l, of)...)
}

// dependentQueries returns the queries for everything that belongs to base tables, except for their columns.
func (s *server) dependentQueries(l *lister, of selection) []query {
	queries := []query{
		{"SELECT TRIGGER_SCHEMA, TRIGGER_NAME, 'TRIGGER', EVENT_OBJECT_TABLE, SQL_MODE, ACTION_STATEMENT, 'SQL' FROM information_schema.TRIGGERS WHERE " +
			of.where("TRIGGER_SCHEMA", "EVENT_OBJECT_TABLE", everySchema), texts(l.program)},
		// MariaDB takes many times as long to join these two tables.
		{"SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME" +
			" FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL AND " + of.where("TABLE_SCHEMA", "TABLE_NAME", everySchema) +
			" ORDER BY 1, 2, 3, ORDINAL_POSITION", texts(l.foreignKey)},
		{"SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, DELETE_RULE, UPDATE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE " +
			of.where("CONSTRAINT_SCHEMA", "TABLE_NAME", everySchema), texts(l.rules)},
	}
	if s.flavor == flavor.MariaDB {
		queries = append(queries, query{"SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE " +
			of.where("CONSTRAINT_SCHEMA", "TABLE_NAME", withoutSystem), texts(l.expression)})
	}
	return queries
}

// viewQueries returns the queries of views.
func (s *server) viewQueries(l *lister, of selection) []query {
	queries := []query{{
		"SELECT TABLE_SCHEMA, TABLE_NAME, SECURITY_TYPE, VIEW_DEFINITION FROM information_schema.VIEWS WHERE " +
			of.where("TABLE_SCHEMA", "TABLE_NAME", withoutViews), texts(l.view),
	}}
	if s.flavor != flavor.MariaDB { // MariaDB's text of a view's query names the columns
		queries = append(queries, query{
			"SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME FROM information_schema.VIEWS v JOIN information_schema.COLUMNS c" +
				" ON c.TABLE_SCHEMA = v.TABLE_SCHEMA AND c.TABLE_NAME = v.TABLE_NAME WHERE " +
				of.where("v.TABLE_SCHEMA", "v.TABLE_NAME", withoutViews) + " ORDER BY 1, 2, c.ORDINAL_POSITION", texts(l.viewColumn),
		})
	}
	return queries
}

// routineQueries returns the queries of procedures and functions.
func (s *server) routineQueries(l *lister, of selection) []query {
	return []query{{
		"SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, '', SQL_MODE, ROUTINE_DEFINITION, " + s.language() + " FROM information_schema.ROUTINES WHERE " +
			of.where("ROUTINE_SCHEMA", "ROUTINE_NAME", everySchema), texts(l.program),
	}}
}

// null is the text for NULL. A body is NULL if the account may not see it.
const null = "\x00"

// columnExpressions returns the query for the expressions that servers compute in columns of base tables, see
// [server.computes].
func (s *server) columnExpressions(of selection) string {
	text := "SELECT TABLE_SCHEMA, TABLE_NAME, CONCAT_WS(' ', GENERATION_EXPRESSION, COLUMN_DEFAULT) FROM information_schema.COLUMNS WHERE " +
		of.where("TABLE_SCHEMA", "TABLE_NAME", withoutSystem)
	if s.flavor == flavor.MariaDB {
		return text + " AND (GENERATION_EXPRESSION IS NOT NULL OR COLUMN_DEFAULT LIKE '%(%' OR COLUMN_DEFAULT LIKE '%next%')"
	}
	return text + " AND (GENERATION_EXPRESSION <> '' OR EXTRA LIKE '%DEFAULT_GENERATED%')"
}

// computes reports whether a server computes a column's value. filled, extra and generated are COLUMN_DEFAULT, EXTRA and GENERATION_EXPRESSION
// of information_schema.
func (s *server) computes(filled []byte, extra string, generated []byte) bool {
	if s.flavor == flavor.MariaDB {
		low := strings.ToLower(string(filled))
		return generated != nil || strings.Contains(low, "(") || strings.Contains(low, "next")
	}
	return len(generated) > 0 || strings.Contains(extra, "DEFAULT_GENERATED")
}

func (s *server) language() string {
	if s.flavor == flavor.MariaDB {
		return "ROUTINE_BODY"
	}
	return "EXTERNAL_LANGUAGE"
}

// lister adds rows to a listing.
type lister struct {
	listing *catalog.Listing
	tables  map[catalog.TableName]int // positions of the tables that it has added
	keys    map[keyName]int           // positions of the foreign keys that it has added
	views   []catalog.TableName       // views of which only the names are known yet
}

// keyName is the name of a foreign key and its table.
type keyName struct {
	table catalog.TableName
	name  string
}

func newLister() *lister { return listerOf(&catalog.Listing{}) }

// listerOf returns a lister that adds to a listing. The caller must not use the listing afterwards.
func listerOf(listing *catalog.Listing) *lister {
	return &lister{listing: listing, tables: map[catalog.TableName]int{}, keys: map[keyName]int{}}
}

// finished returns the listing in a form that doesn't depend on how it was read. It omits a foreign key that was dropped before its rules were
// read.
func (l *lister) finished(before *catalog.Listing) *catalog.Listing {
	l.listing.ForeignKeys = slices.DeleteFunc(l.listing.ForeignKeys, func(k catalog.ForeignKey) bool { return k.OnDelete == "" })
	l.listing.FinishAfter(before)
	return l.listing
}

func (l *lister) add(t catalog.ListedTable) {
	l.tables[t.TableName] = len(l.listing.Tables)
	l.listing.Tables = append(l.listing.Tables, t)
}

func (l *lister) base(row []string) {
	t := catalog.ListedTable{TableName: catalog.TableName{Schema: row[0], Name: row[1]}, Type: row[2]}
	if isView(t.Type) {
		l.views = append(l.views, t.TableName)
		return
	}
	if words, declares := catalog.CommentWords(row[3]); declares {
		t.Declares, t.Words = true, words
	}
	l.add(t)
}

// isView reports whether a TABLE_TYPE is a view's.
func isView(kind string) bool { return strings.HasSuffix(kind, "VIEW") }

func (l *lister) view(row []string) {
	l.add(catalog.ListedTable{
		TableName: catalog.TableName{Schema: row[0], Name: row[1]}, Type: "VIEW", Invoker: row[2] == "INVOKER", Query: row[3],
		Hidden: hidden(row[3], "SHOW VIEW"),
	})
}

func (l *lister) viewColumn(row []string) {
	if i, ok := l.tables[catalog.TableName{Schema: row[0], Name: row[1]}]; ok {
		l.listing.Tables[i].Columns = append(l.listing.Tables[i].Columns, row[2])
	}
}

func (l *lister) expression(row []string) {
	if i, ok := l.tables[catalog.TableName{Schema: row[0], Name: row[1]}]; ok {
		l.listing.Tables[i].Expressions = append(l.listing.Tables[i].Expressions, row[2])
	}
}

// foreignKey adds one column of a foreign key. The columns of a key come one after the other.
func (l *lister) foreignKey(row []string) {
	key := keyName{catalog.TableName{Schema: row[0], Name: row[1]}, row[2]}
	at, known := l.keys[key]
	if !known {
		at = len(l.listing.ForeignKeys)
		l.keys[key] = at
		l.listing.ForeignKeys = append(l.listing.ForeignKeys, catalog.ForeignKey{
			TableName: key.table, Name: key.name, References: catalog.TableName{Schema: row[4], Name: row[5]},
		})
	}
	f := &l.listing.ForeignKeys[at]
	f.Columns, f.Referred = append(f.Columns, row[3]), append(f.Referred, row[6])
}

// rules sets the rules of a foreign key for changes of the referenced rows. It ignores a key that was created after its columns were read:
// that definition causes a change of its own.
func (l *lister) rules(row []string) {
	if at, known := l.keys[keyName{catalog.TableName{Schema: row[0], Name: row[1]}, row[2]}]; known {
		l.listing.ForeignKeys[at].OnDelete, l.listing.ForeignKeys[at].OnUpdate = row[3], row[4]
	}
}

func (l *lister) program(row []string) {
	p := catalog.Program{
		TableName: catalog.TableName{Schema: row[0], Name: row[1]}, Type: row[2], On: row[3], Mode: stmt.ModeOf(row[4]), Body: row[5],
		Hidden: hidden(row[5], "SELECT"),
	}
	if language := row[6]; language != "SQL" && language != null {
		p.Hidden = "what a body in " + language + " does"
	}
	l.listing.Programs = append(l.listing.Programs, p)
}

// hidden returns why a body is unknown, or "" if it is known.
func hidden(body, privilege string) string {
	if body != null && body != "" {
		return ""
	}
	return fmt.Sprintf("what its body does, which the proxy's account may not see (%s)", strings.ToUpper(privilege))
}
