package schema

import (
	"context"
	"fmt"
	"strings"

	"locus/proxy/flavor"
	"locus/router/catalog"
	"locus/router/stmt"
)

// The schemas that each server has for itself, and the proxies' own.
const (
	withoutSystem = " NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', '" + stmt.Own + "')"
	withoutViews  = " NOT IN ('information_schema', 'performance_schema', '" + stmt.Own + "')"
)

// list reads everything that one server has by name, with the texts of what is run
// there. Its questions are as many for thousands of tables as for one.
func (s *server) list(ctx context.Context, q Querier) (*catalog.Listing, error) {
	l := &lister{listing: &catalog.Listing{}, tables: map[catalog.TableName]int{}}
	for _, part := range []struct {
		sql string
		row func([]string)
	}{
		{"SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA" + withoutSystem +
			" AND TABLE_TYPE NOT LIKE '%VIEW' ORDER BY 1, 2", l.base},
		{"SELECT TABLE_SCHEMA, TABLE_NAME, SECURITY_TYPE, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA" + withoutViews + " ORDER BY 1, 2", l.view},
		{s.viewColumns(), l.viewColumn},
		{s.expressions(), l.expression},
		{"SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, '', SQL_MODE, ROUTINE_DEFINITION, " + s.language() + " FROM information_schema.ROUTINES ORDER BY 1, 2, 3", l.program},
		{"SELECT TRIGGER_SCHEMA, TRIGGER_NAME, 'TRIGGER', EVENT_OBJECT_TABLE, SQL_MODE, ACTION_STATEMENT, 'SQL' FROM information_schema.TRIGGERS ORDER BY 1, 2", l.program},
		{"SELECT k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, r.DELETE_RULE, r.UPDATE_RULE" +
			" FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r" +
			" ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME" +
			" WHERE k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY 1, 2, 3, k.ORDINAL_POSITION", l.foreignKey},
		{"SELECT EVENT_SCHEMA, EVENT_NAME, 'EVENT', '', SQL_MODE, EVENT_DEFINITION, 'SQL' FROM information_schema.EVENTS ORDER BY 1, 2", l.program},
	} {
		if part.sql == "" {
			continue
		}
		rows, err := q.Query(ctx, part.sql)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			texts := make([]string, len(row))
			for i, value := range row {
				if texts[i] = string(value); value == nil {
					texts[i] = null
				}
			}
			part.row(texts)
		}
	}
	return l.listing, nil
}

// null stands for a body that the account may not see.
const null = "\x00"

// viewColumns asks how views call their columns; empty: their queries tell.
func (s *server) viewColumns() string {
	if s.flavor == flavor.MariaDB {
		return ""
	}
	return "SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME FROM information_schema.VIEWS v JOIN information_schema.COLUMNS c" +
		" ON c.TABLE_SCHEMA = v.TABLE_SCHEMA AND c.TABLE_NAME = v.TABLE_NAME WHERE v.TABLE_SCHEMA" + withoutViews + " ORDER BY 1, 2, c.ORDINAL_POSITION"
}

// expressions asks for what servers compute by themselves in base tables.
func (s *server) expressions() string {
	if s.flavor == flavor.MariaDB {
		return "SELECT TABLE_SCHEMA, TABLE_NAME, CONCAT_WS(' ', GENERATION_EXPRESSION, COLUMN_DEFAULT) FROM information_schema.COLUMNS" +
			" WHERE TABLE_SCHEMA" + withoutSystem + " AND (GENERATION_EXPRESSION IS NOT NULL OR COLUMN_DEFAULT LIKE '%(%' OR COLUMN_DEFAULT LIKE '%next%')" +
			" UNION ALL SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA" + withoutSystem + " ORDER BY 1, 2, 3"
	}
	return "SELECT TABLE_SCHEMA, TABLE_NAME, CONCAT_WS(' ', GENERATION_EXPRESSION, COLUMN_DEFAULT) FROM information_schema.COLUMNS" +
		" WHERE TABLE_SCHEMA" + withoutSystem + " AND (GENERATION_EXPRESSION <> '' OR EXTRA LIKE '%DEFAULT_GENERATED%') ORDER BY 1, 2, 3"
}

func (s *server) language() string {
	if s.flavor == flavor.MariaDB {
		return "ROUTINE_BODY"
	}
	return "EXTERNAL_LANGUAGE"
}

// lister puts rows into a listing.
type lister struct {
	listing *catalog.Listing
	tables  map[catalog.TableName]int
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
