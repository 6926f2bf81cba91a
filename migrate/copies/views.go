package copies

import (
	"context"
	"maps"
	"slices"
	"strings"

	"locus/migrate/link"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Views returns the views that every shard must have: those of a server that read sharded or global tables, and
// nothing that only one shard has. A view comes after the views that it reads.
func Views(ctx context.Context, c *link.Conn, declared map[catalog.TableName]catalog.Declaration) ([]catalog.TableName, error) {
	v, err := judged(ctx, c, declared)
	if err != nil {
		return nil, err
	}
	return v.found, nil
}

// ViewsOver returns the subset of Views that read some tables, directly or through other views, in the same
// order.
func ViewsOver(ctx context.Context, c *link.Conn, declared map[catalog.TableName]catalog.Declaration, tables map[catalog.TableName]catalog.Declaration) ([]catalog.TableName, error) {
	v, err := judged(ctx, c, declared)
	if err != nil {
		return nil, err
	}
	over := map[catalog.TableName]bool{}
	for name := range tables {
		over[name] = true
	}
	var found []catalog.TableName
	for _, name := range v.found {
		for other := range v.named(v.queries[name]) {
			if over[other] {
				over[name] = true
			}
		}
		if over[name] {
			found = append(found, name)
		}
	}
	return found, nil
}

// judged determines which views of a server every shard must have.
func judged(ctx context.Context, c *link.Conn, declared map[catalog.TableName]catalog.Declaration) (*viewing, error) {
	v := &viewing{queries: map[catalog.TableName]string{}, base: map[catalog.TableName]bool{}, everywhere: map[catalog.TableName]bool{}}
	for name, d := range declared {
		v.everywhere[name] = d.Kind == catalog.Sharded || d.Kind == catalog.Global
	}
	rows, err := c.Query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE NOT LIKE '%VIEW' AND "+notSystem)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		v.base[catalog.TableName{Schema: string(r[0]), Name: string(r[1])}] = true
	}
	if v.queries, err = Queries(ctx, c); err != nil {
		return nil, err
	}
	v.judged = map[catalog.TableName]bool{}
	for _, name := range slices.SortedFunc(maps.Keys(v.queries), catalog.TableName.Compare) {
		v.judge(name)
	}
	return v, nil
}

const notSystem = "TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', '" + stmt.Own + "')"

// Queries returns the queries of a server's views, as the server prints them.
func Queries(ctx context.Context, c *link.Conn) (map[catalog.TableName]string, error) {
	rows, err := c.Query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE "+notSystem)
	if err != nil {
		return nil, err
	}
	queries := map[catalog.TableName]string{}
	for _, r := range rows {
		queries[catalog.TableName{Schema: string(r[0]), Name: string(r[1])}] = string(r[2])
	}
	return queries, nil
}

// viewing determines which views every shard must have.
type viewing struct {
	queries          map[catalog.TableName]string
	base, everywhere map[catalog.TableName]bool
	judged           map[catalog.TableName]bool // whether every shard must have the view
	found            []catalog.TableName
}

func (v *viewing) judge(name catalog.TableName) bool {
	if is, known := v.judged[name]; known {
		return is
	}
	v.judged[name] = false // a view that reads itself ends here
	reaches, elsewhere := false, false
	for other := range v.named(v.queries[name]) {
		_, view := v.queries[other]
		switch {
		case v.everywhere[other] || view && v.judge(other):
			reaches = true
		case v.base[other] || view:
			elsewhere = true
		}
	}
	if reaches && !elsewhere {
		v.judged[name] = true
		v.found = append(v.found, name)
	}
	return v.judged[name]
}

// named returns the tables and views that a query names. For a query that can't be parsed, it returns every
// name that the text mentions.
func (v *viewing) named(query string) map[catalog.TableName]bool {
	names := map[catalog.TableName]bool{}
	var l stmt.Lexed
	l.Lex([]byte(query), 0)
	if s, err := stmt.Parse(&l); l.Err == nil && err == nil {
		for _, t := range s.Named() {
			names[catalog.TableName{Schema: t.Schema, Name: t.Name}] = true
		}
		return names
	}
	mentioned := func(other catalog.TableName) {
		if strings.Contains(query, link.Name(other.Schema)+"."+link.Name(other.Name)) {
			names[other] = true
		}
	}
	for other := range v.base {
		mentioned(other)
	}
	for other := range v.queries {
		mentioned(other)
	}
	return names
}
