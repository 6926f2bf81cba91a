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

// question is a query of information_schema, and the function that takes each of its rows.
type question struct {
	sql string
	row func([][]byte) error
}

// ask sends all questions together, and hands over their rows in order.
func ask(ctx context.Context, q Querier, questions []question) error {
	if len(questions) == 0 {
		return nil
	}
	statements := make([]string, len(questions))
	for i, one := range questions {
		statements[i] = one.sql
	}
	answers, err := queryEach(ctx, q, statements)
	if err != nil {
		return err
	}
	for i, one := range questions {
		for _, row := range answers[i] {
			if err := one.row(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// texts adapts a function that takes rows as texts. NULL is the text null.
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

// list reads everything that one server has by name, with the texts of what is run there. The number of its questions doesn't
// depend on the number of tables. Before is an earlier listing, or nil.
func (s *server) list(ctx context.Context, q Querier, before *catalog.Listing) (*catalog.Listing, error) {
	l := newLister()
	everything := selection{}
	questions := slices.Concat(s.tableQuestions(l, everything), s.viewQuestions(l, everything), s.routineQuestions(l, everything), []question{{
		"SELECT EVENT_SCHEMA, EVENT_NAME, 'EVENT', '', SQL_MODE, EVENT_DEFINITION, 'SQL' FROM information_schema.EVENTS", texts(l.program),
	}})
	if err := ask(ctx, q, questions); err != nil {
		return nil, err
	}
	return l.finished(before), nil
}

// tableQuestions ask about all base tables and all that belongs to them.
func (s *server) tableQuestions(l *lister, of selection) []question {
	return append([]question{
		{"SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES WHERE " +
			of.where("TABLE_SCHEMA", "TABLE_NAME", withoutSystem) + " AND TABLE_TYPE NOT LIKE '%VIEW'", texts(l.base)},
		{s.columnExpressions(of), texts(l.expression)},
	}, s.belongings(l, of)...)
}

// belongings ask about what belongs to base tables, but for their columns.
func (s *server) belongings(l *lister, of selection) []question {
	questions := []question{
		{"SELECT TRIGGER_SCHEMA, TRIGGER_NAME, 'TRIGGER', EVENT_OBJECT_TABLE, SQL_MODE, ACTION_STATEMENT, 'SQL' FROM information_schema.TRIGGERS WHERE " +
			of.where("TRIGGER_SCHEMA", "EVENT_OBJECT_TABLE", everySchema), texts(l.program)},
		// MariaDB takes many times as long to join the two.
		{"SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME" +
			" FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL AND " + of.where("TABLE_SCHEMA", "TABLE_NAME", everySchema) +
			" ORDER BY 1, 2, 3, ORDINAL_POSITION", texts(l.foreignKey)},
		{"SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, DELETE_RULE, UPDATE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE " +
			of.where("CONSTRAINT_SCHEMA", "TABLE_NAME", everySchema), texts(l.rules)},
	}
	if s.flavor == flavor.MariaDB {
		questions = append(questions, question{"SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE " +
			of.where("CONSTRAINT_SCHEMA", "TABLE_NAME", withoutSystem), texts(l.expression)})
	}
	return questions
}

// viewQuestions ask about views.
func (s *server) viewQuestions(l *lister, of selection) []question {
	questions := []question{{
		"SELECT TABLE_SCHEMA, TABLE_NAME, SECURITY_TYPE, VIEW_DEFINITION FROM information_schema.VIEWS WHERE " +
			of.where("TABLE_SCHEMA", "TABLE_NAME", withoutViews), texts(l.view),
	}}
	if s.flavor != flavor.MariaDB { // whose views' queries name the columns
		questions = append(questions, question{
			"SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME FROM information_schema.VIEWS v JOIN information_schema.COLUMNS c" +
				" ON c.TABLE_SCHEMA = v.TABLE_SCHEMA AND c.TABLE_NAME = v.TABLE_NAME WHERE " +
				of.where("v.TABLE_SCHEMA", "v.TABLE_NAME", withoutViews) + " ORDER BY 1, 2, c.ORDINAL_POSITION", texts(l.viewColumn),
		})
	}
	return questions
}

// routineQuestions ask about procedures and functions.
func (s *server) routineQuestions(l *lister, of selection) []question {
	return []question{{
		"SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, '', SQL_MODE, ROUTINE_DEFINITION, " + s.language() + " FROM information_schema.ROUTINES WHERE " +
			of.where("ROUTINE_SCHEMA", "ROUTINE_NAME", everySchema), texts(l.program),
	}}
}

// null stands for a body that the account may not see.
const null = "\x00"

// columnExpressions asks for what servers compute by themselves in columns of base tables, see [server.computes].
func (s *server) columnExpressions(of selection) string {
	text := "SELECT TABLE_SCHEMA, TABLE_NAME, CONCAT_WS(' ', GENERATION_EXPRESSION, COLUMN_DEFAULT) FROM information_schema.COLUMNS WHERE " +
		of.where("TABLE_SCHEMA", "TABLE_NAME", withoutSystem)
	if s.flavor == flavor.MariaDB {
		return text + " AND (GENERATION_EXPRESSION IS NOT NULL OR COLUMN_DEFAULT LIKE '%(%' OR COLUMN_DEFAULT LIKE '%next%')"
	}
	return text + " AND (GENERATION_EXPRESSION <> '' OR EXTRA LIKE '%DEFAULT_GENERATED%')"
}

// computes reports whether a server computes a column's value: its default, EXTRA and GENERATION_EXPRESSION as information_schema has them.
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
	tables  map[catalog.TableName]int // those that it has added, by their places
	keys    map[keyName]int           // likewise foreign keys
	views   []catalog.TableName       // of which nothing but the names are known yet
}

// keyName names a foreign key.
type keyName struct {
	table catalog.TableName
	name  string
}

func newLister() *lister { return listerOf(&catalog.Listing{}) }

// listerOf returns a lister that adds to a listing, which is the lister's from then on.
func listerOf(listing *catalog.Listing) *lister {
	return &lister{listing: listing, tables: map[catalog.TableName]int{}, keys: map[keyName]int{}}
}

// finished returns the listing, which doesn't depend on how it was read. It leaves out a foreign key that was dropped before its rules
// were read.
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
	if words, declares := catalog.Said(row[3]); declares {
		t.Declares, t.Words = true, words
	}
	l.add(t)
}

// isView reports whether a TABLE_TYPE is that of a view.
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

// foreignKey takes one column of a foreign key, whose columns come one after the other.
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

// rules takes what a foreign key does to the rows that refer to a changed one. A key that was made since its columns were read is not
// known; its definition is announced by itself.
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

// hidden says of a body that can't be seen why nothing is known of it.
func hidden(body, privilege string) string {
	if body != null && body != "" {
		return ""
	}
	return fmt.Sprintf("what its body does, which the proxy's account may not see (%s)", strings.ToUpper(privilege))
}
