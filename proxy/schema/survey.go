package schema

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"locus/router/catalog"
)

// Surveyed is a base table of a server that need not be a shard.
type Surveyed struct {
	catalog.TableName
	Columns []catalog.Column
	Unique  []catalog.UniqueKey
	// Leading are the first columns of the table's indexes, in lower case.
	Leading map[string]bool
	// Rows is the server's estimate of the number of rows.
	Rows uint64
}

// Survey returns all base tables of a server, sorted by name, and the listing of all its objects. It omits the server's own schemas. unseen
// lists the privileges without which the server omits objects; without any privilege other than SELECT, MariaDB omits foreign keys too. The
// number of queries depends on the number of schemas, not on the number of tables.
func Survey(ctx context.Context, q Querier) (tables []Surveyed, listing *catalog.Listing, unseen, err error) {
	s := &server{tables: map[catalog.TableName]*liveTable{}}
	if err := s.readVersion(ctx, q); err != nil {
		return nil, nil, nil, err
	}
	if listing, err = s.list(ctx, q, nil); err != nil {
		return nil, nil, nil, err
	}
	if unseen, err = s.missingPrivileges(ctx, q); err != nil {
		return nil, nil, nil, err
	}
	var names []catalog.TableName
	for i := range listing.Tables {
		if t := &listing.Tables[i]; t.Type == "BASE TABLE" || t.Type == "SYSTEM VERSIONED" {
			names = append(names, t.TableName)
		}
	}
	rows := map[catalog.TableName]uint64{}
	queries := s.liveQueries(names)
	for _, of := range s.selections(names) {
		queries = append(queries, query{
			"SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES WHERE " + of.where("TABLE_SCHEMA", "TABLE_NAME", everySchema),
			func(row [][]byte) error {
				n, _ := strconv.ParseUint(string(row[2]), 10, 64) // NULL if the server doesn't know
				rows[catalog.TableName{Schema: string(row[0]), Name: string(row[1])}] = n
				return nil
			},
		})
	}
	if err := runQueries(ctx, q, queries); err != nil {
		return nil, nil, nil, err
	}
	for _, name := range names {
		if t := s.tables[name]; t != nil && len(t.columns) > 0 { // otherwise it was dropped meanwhile
			tables = append(tables, Surveyed{name, t.catalogColumns(), t.catalogUnique(), t.leading, rows[name]})
		}
	}
	slices.SortFunc(tables, func(a, b Surveyed) int { return a.TableName.Compare(b.TableName) })
	return tables, listing, unseen, nil
}

// catalogUnique returns the unique keys with the positions of their columns.
func (t *liveTable) catalogUnique() (keys []catalog.UniqueKey) {
	for _, u := range t.unique {
		key := catalog.UniqueKey{Name: u.name, Partial: u.partial}
		for _, column := range u.columns {
			if at := slices.IndexFunc(t.columns, func(c liveColumn) bool { return strings.EqualFold(c.Name, column) }); at >= 0 {
				key.Columns = append(key.Columns, at)
			}
		}
		keys = append(keys, key)
	}
	return keys
}
