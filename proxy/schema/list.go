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

// The schemas that each server has for itself, and the proxies' own.
const (
	withoutSystem = " NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', '" + stmt.Own + "')"
	withoutViews  = " NOT IN ('information_schema', 'performance_schema', '" + stmt.Own + "')"
	everySchema   = " IS NOT NULL"
)

// selection restricts a question to some names of one schema. The zero selection restricts nothing.
type selection struct {
	schema string
	names  []string
}

// selections returns the selections that contain the names, one for each schema.
func selections(names []catalog.TableName) (list []selection) {
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

// where returns the condition on the columns with schema and name. Without a selection it is that the schema isn't one of those
// left out. A schema that is a constant keeps MariaDB from opening every table, and one name that is a constant from listing
// the schema's directory.
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

// question is a query of information_schema, with what takes each of its rows. NULL is the text null.
type question struct {
	sql string
	row func([]string)
}

// list reads everything that one server has by name, with the texts of what is run there. The number of its questions doesn't
// depend on the number of tables.
func (s *server) list(ctx context.Context, q Querier) (*catalog.Listing, error) {
	l := newLister()
	questions := slices.Concat(s.tableQuestions(l, selection{}), s.routineQuestions(l, selection{}), []question{{
		"SELECT EVENT_SCHEMA, EVENT_NAME, 'EVENT', '', SQL_MODE, EVENT_DEFINITION, 'SQL' FROM information_schema.EVENTS", l.program,
	}})
	if err := l.ask(ctx, q, questions); err != nil {
		return nil, err
	}
	return l.finished(), nil
}

// tableQuestions ask about tables and views, and all that belongs to them.
func (s *server) tableQuestions(l *lister, of selection) []question {
	questions := []question{
		{"SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES WHERE " +
			of.where("TABLE_SCHEMA", "TABLE_NAME", withoutSystem) + " AND TABLE_TYPE NOT LIKE '%VIEW'", l.base},
		{"SELECT TABLE_SCHEMA, TABLE_NAME, SECURITY_TYPE, VIEW_DEFINITION FROM information_schema.VIEWS WHERE " +
			of.where("TABLE_SCHEMA", "TABLE_NAME", withoutViews), l.view},
		{s.expressions(of), l.expression},
		{"SELECT TRIGGER_SCHEMA, TRIGGER_NAME, 'TRIGGER', EVENT_OBJECT_TABLE, SQL_MODE, ACTION_STATEMENT, 'SQL' FROM information_schema.TRIGGERS WHERE " +
			of.where("TRIGGER_SCHEMA", "EVENT_OBJECT_TABLE", everySchema), l.program},
		{"SELECT k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, r.DELETE_RULE, r.UPDATE_RULE" +
			" FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r" +
			" ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME" +
			" WHERE k.REFERENCED_TABLE_NAME IS NOT NULL AND " + of.where("k.TABLE_SCHEMA", "k.TABLE_NAME", everySchema) +
			" AND " + of.where("r.CONSTRAINT_SCHEMA", "r.TABLE_NAME", everySchema) + " ORDER BY 1, 2, 3, k.ORDINAL_POSITION", l.foreignKey},
	}
	if s.flavor != flavor.MariaDB { // whose views' queries name the columns
		questions = append(questions, question{
			"SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME FROM information_schema.VIEWS v JOIN information_schema.COLUMNS c" +
				" ON c.TABLE_SCHEMA = v.TABLE_SCHEMA AND c.TABLE_NAME = v.TABLE_NAME WHERE " +
				of.where("v.TABLE_SCHEMA", "v.TABLE_NAME", withoutViews) + " ORDER BY 1, 2, c.ORDINAL_POSITION", l.viewColumn,
		})
	}
	return questions
}

// routineQuestions ask about procedures and functions.
func (s *server) routineQuestions(l *lister, of selection) []question {
	return []question{{
		"SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, '', SQL_MODE, ROUTINE_DEFINITION, " + s.language() + " FROM information_schema.ROUTINES WHERE " +
			of.where("ROUTINE_SCHEMA", "ROUTINE_NAME", everySchema), l.program,
	}}
}

// relist returns a listing in which the tables and routines are as the server has them now, and everything else is as it was.
func (s *server) relist(ctx context.Context, q Querier, before *catalog.Listing, tables, routines []catalog.TableName) (*catalog.Listing, error) {
	l := listerOf(before.Without(tables, routines))
	var questions []question
	for _, of := range selections(tables) {
		questions = append(questions, s.tableQuestions(l, of)...)
	}
	for _, of := range selections(routines) {
		questions = append(questions, s.routineQuestions(l, of)...)
	}
	if err := l.ask(ctx, q, questions); err != nil {
		return nil, err
	}
	return l.finished(), nil
}

// null stands for a body that the account may not see.
const null = "\x00"

// expressions asks for what servers compute by themselves in base tables.
func (s *server) expressions(of selection) string {
	tables := of.where("TABLE_SCHEMA", "TABLE_NAME", withoutSystem)
	if s.flavor == flavor.MariaDB {
		return "SELECT TABLE_SCHEMA, TABLE_NAME, CONCAT_WS(' ', GENERATION_EXPRESSION, COLUMN_DEFAULT) FROM information_schema.COLUMNS" +
			" WHERE " + tables + " AND (GENERATION_EXPRESSION IS NOT NULL OR COLUMN_DEFAULT LIKE '%(%' OR COLUMN_DEFAULT LIKE '%next%')" +
			" UNION ALL SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE " +
			of.where("CONSTRAINT_SCHEMA", "TABLE_NAME", withoutSystem)
	}
	return "SELECT TABLE_SCHEMA, TABLE_NAME, CONCAT_WS(' ', GENERATION_EXPRESSION, COLUMN_DEFAULT) FROM information_schema.COLUMNS" +
		" WHERE " + tables + " AND (GENERATION_EXPRESSION <> '' OR EXTRA LIKE '%DEFAULT_GENERATED%')"
}

func (s *server) language() string {
	if s.flavor == flavor.MariaDB {
		return "ROUTINE_BODY"
	}
	return "EXTERNAL_LANGUAGE"
}

// lister makes a listing of rows.
type lister struct {
	listing *catalog.Listing
	tables  map[catalog.TableName]int
}

func newLister() *lister { return listerOf(&catalog.Listing{}) }

// listerOf returns a lister that adds to a listing, which is the lister's from then on.
func listerOf(listing *catalog.Listing) *lister {
	l := &lister{listing: listing, tables: make(map[catalog.TableName]int, len(listing.Tables))}
	for i := range listing.Tables {
		l.tables[listing.Tables[i].TableName] = i
	}
	return l
}

// ask takes the answers to questions.
func (l *lister) ask(ctx context.Context, q Querier, questions []question) error {
	for _, one := range questions {
		rows, err := q.Query(ctx, one.sql)
		if err != nil {
			return err
		}
		for _, row := range rows {
			texts := make([]string, len(row))
			for i, value := range row {
				if texts[i] = string(value); value == nil {
					texts[i] = null
				}
			}
			one.row(texts)
		}
	}
	return nil
}

// finished returns the listing, which doesn't depend on how it was read.
func (l *lister) finished() *catalog.Listing {
	l.listing.Finish()
	return l.listing
}

func (l *lister) add(t catalog.ListedTable) {
	l.tables[t.TableName] = len(l.listing.Tables)
	l.listing.Tables = append(l.listing.Tables, t)
}

func (l *lister) base(row []string) {
	t := catalog.ListedTable{TableName: catalog.TableName{Schema: row[0], Name: row[1]}, Type: row[2]}
	if words, declares := catalog.Said(row[3]); declares {
		t.Declares, t.Words = true, words
	}
	l.add(t)
}

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

// foreignKey takes one of its columns, which come one after the other.
func (l *lister) foreignKey(row []string) {
	name := catalog.TableName{Schema: row[0], Name: row[1]}
	all := &l.listing.ForeignKeys
	if n := len(*all); n == 0 || (*all)[n-1].TableName != name || (*all)[n-1].Name != row[2] {
		*all = append(*all, catalog.ForeignKey{
			TableName: name, Name: row[2], References: catalog.TableName{Schema: row[4], Name: row[5]}, OnDelete: row[7], OnUpdate: row[8],
		})
	}
	f := &(*all)[len(*all)-1]
	f.Columns, f.Referred = append(f.Columns, row[3]), append(f.Referred, row[6])
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

// hidden says of a body that can't be seen why nothing is known of it.
func hidden(body, privilege string) string {
	if body != null && body != "" {
		return ""
	}
	return fmt.Sprintf("what its body does, which the proxy's account may not see (%s)", strings.ToUpper(privilege))
}
