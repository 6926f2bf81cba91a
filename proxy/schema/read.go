package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locus/proxy/flavor"
	"locus/router/catalog"
)

// server contains the results of reading one shard's server.
type server struct {
	flavor flavor.Flavor
	// noPad are the collations that count trailing spaces. It is set for MySQL only, since MariaDB's collations have names that show it.
	noPad map[string]bool
	// queried are the declared tables for which the server was queried, and tables are those that it has.
	queried map[catalog.TableName]bool
	tables  map[catalog.TableName]*liveTable
	listing *catalog.Listing
	hidden  error // why the listing may be incomplete
}

// liveTable is a table as it is on one shard.
type liveTable struct {
	kind    string // information_schema's TABLE_TYPE: "BASE TABLE", "VIEW"
	engine  string // empty for views
	columns []liveColumn
	// leading are the first columns of indexes, in lower case.
	leading    map[string]bool
	primaryKey bool
	unique     []uniqueIndex
}

// uniqueIndex is a unique index with the columns that it contains as a whole, in lower case.
type uniqueIndex struct {
	name    string
	columns []string
	partial bool // the key also contains prefixes or expressions
}

// liveColumn is a column with its type as the server writes it.
type liveColumn struct {
	catalog.Column
	fullType string
	filled   string // the column's default, if that is a value
}

// read queries one server for the given tables and its listing. Tables that don't exist are missing in the result. The result may contain
// other tables whose names differ in letter case: information_schema ignores it, and table names don't. before is an earlier listing, or nil.
func read(ctx context.Context, q Querier, names []catalog.TableName, before *catalog.Listing) (*server, error) {
	s := &server{tables: map[catalog.TableName]*liveTable{}}
	if err := s.readVersion(ctx, q); err != nil {
		return nil, err
	}
	if err := runQueries(ctx, q, s.liveQueries(names)); err != nil {
		return nil, err
	}
	s.queried = setOf(names)
	var err error
	if s.listing, err = s.list(ctx, q, before); err != nil {
		return nil, err
	}
	if s.hidden, err = s.missingPrivileges(ctx, q); err != nil {
		return nil, err
	}
	return s, nil
}

// reread returns the state of the server after a change. It reads only what the change may have touched, and names that have not been read
// before. names are the declared tables, as for [read]. It doesn't modify s.
//
// It first queries which of the names are tables, and then everything else. So a table that was dropped, or is declared and not created yet,
// costs the server little.
func (s *server) reread(ctx context.Context, q Querier, names []catalog.TableName, change catalog.Change) (*server, error) {
	next := &server{flavor: s.flavor, noPad: s.noPad, hidden: s.hidden, listing: s.listing, queried: setOf(names), tables: map[catalog.TableName]*liveTable{}}
	tables := s.listing.Involved(change)
	touched := setOf(tables)
	var again []catalog.TableName
	for _, n := range names {
		if touched[n] || !s.queried[n] {
			again = append(again, n)
		} else if t := s.tables[n]; t != nil {
			next.tables[n] = t
		}
	}
	l := listerOf(s.listing.Without(tables, change.Routines))
	found := &present{server: next, lister: l, live: setOf(again), listed: touched}
	queries := found.queries(again, tables)
	for _, of := range next.selections(change.Routines) {
		queries = append(queries, next.routineQueries(l, of)...)
	}
	if err := runQueries(ctx, q, queries); err != nil {
		return nil, err
	}
	if err := runQueries(ctx, q, found.more()); err != nil {
		return nil, err
	}
	if len(tables)+len(change.Routines) > 0 {
		next.listing = l.finished(nil)
	}
	return next, nil
}

// present finds which of some names are tables or views, and creates the queries for their details.
type present struct {
	*server
	*lister
	live, listed map[catalog.TableName]bool // declared tables, and names to list

	columns, base []catalog.TableName // names in live that are tables, and names in listed that are base tables
}

// queries returns the queries for the existence of the names.
func (p *present) queries(live, listed []catalog.TableName) (queries []query) {
	all := slices.Concat(live, listed)
	slices.SortFunc(all, catalog.TableName.Compare)
	for _, of := range p.server.selections(slices.Compact(all)) {
		queries = append(queries, query{
			"SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT, ENGINE FROM information_schema.TABLES WHERE " +
				of.where("TABLE_SCHEMA", "TABLE_NAME", everySchema), p.take,
		})
	}
	return queries
}

// take processes a table's row. The server may return names that differ in letter case.
func (p *present) take(row [][]byte) error {
	name := catalog.TableName{Schema: string(row[0]), Name: string(row[1])}
	if p.live[name] {
		p.columns = append(p.columns, name)
		if err := p.server.table(row).describe([][]byte{row[2], row[4]}); err != nil {
			return err
		}
	}
	if !p.listed[name] {
		return nil
	}
	if !isView(string(row[2])) {
		p.base = append(p.base, name)
	}
	return texts(p.lister.base)(row[:4])
}

// more returns the queries for details of the tables and views that were found. The expressions of tables in live are read together with their
// columns.
func (p *present) more() (queries []query) {
	for _, of := range p.server.selections(p.columns) {
		queries = append(queries, p.columnQueries(of, func(row [][]byte) error {
			p.columnExpression(row)
			return nil
		})...)
	}
	for _, of := range p.server.selections(slices.DeleteFunc(slices.Clone(p.base), func(n catalog.TableName) bool { return p.live[n] })) {
		queries = append(queries, query{p.columnExpressions(of), texts(p.expression)})
	}
	for _, of := range p.server.selections(p.base) {
		queries = append(queries, p.dependentQueries(p.lister, of)...)
	}
	for _, of := range p.server.selections(p.views) {
		queries = append(queries, p.viewQueries(p.lister, of)...)
	}
	return queries
}

// columnExpression adds the expression of a column of a table that is listed.
func (p *present) columnExpression(row [][]byte) {
	filled, extra, generated := row[6], string(row[10]), row[11]
	if !p.computes(filled, extra, generated) {
		return
	}
	var parts []string // joined as by CONCAT_WS
	for _, part := range [][]byte{generated, filled} {
		if part != nil {
			parts = append(parts, string(part))
		}
	}
	p.expression([]string{string(row[0]), string(row[1]), strings.Join(parts, " ")})
}

func setOf(names []catalog.TableName) map[catalog.TableName]bool {
	set := make(map[catalog.TableName]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

func (s *server) readVersion(ctx context.Context, q Querier) error {
	rows, err := q.Query(ctx, "SELECT VERSION()")
	if err != nil {
		return err
	}
	if len(rows) != 1 || len(rows[0]) != 1 {
		return errors.New("the server doesn't tell its version")
	}
	if s.flavor = flavor.Of(string(rows[0][0])); !s.flavor.ListsPadding() {
		return nil
	}
	rows, err = q.Query(ctx, "SELECT COLLATION_NAME FROM information_schema.COLLATIONS WHERE PAD_ATTRIBUTE = 'NO PAD'")
	if err != nil {
		return err
	}
	s.noPad = map[string]bool{}
	for _, row := range rows {
		s.noPad[string(row[0])] = true
	}
	return nil
}

// liveQueries returns the queries for the columns and keys of declared tables.
func (s *server) liveQueries(names []catalog.TableName) (queries []query) {
	for _, of := range s.selections(names) {
		queries = append(queries, query{tableColumns + " WHERE " + of.where("TABLE_SCHEMA", "TABLE_NAME", everySchema), s.ofTable(4, (*liveTable).describe)})
		queries = append(queries, s.columnQueries(of, nil)...)
	}
	return queries
}

// columnQueries returns the queries for the columns and keys of declared tables in one schema. also is called with each column's row too; it
// may be nil.
func (s *server) columnQueries(of selection, also func([][]byte) error) []query {
	which := " WHERE " + of.where("TABLE_SCHEMA", "TABLE_NAME", everySchema)
	column := s.ofTable(13, s.addColumn)
	return []query{
		{columnColumns + which + " ORDER BY TABLE_NAME, ORDINAL_POSITION", func(row [][]byte) error {
			if err := column(row); err != nil || also == nil {
				return err
			}
			return also(row)
		}},
		{indexColumns + which + " ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX", s.ofTable(7, (*liveTable).addIndex)},
	}
}

// ofTable returns a function that processes rows of a width, which begin with a table's name.
func (s *server) ofTable(width int, take func(*liveTable, [][]byte) error) func([][]byte) error {
	return func(row [][]byte) error {
		if len(row) != width {
			return fmt.Errorf("information_schema gave %d columns, %d were asked for", len(row), width)
		}
		if err := take(s.table(row), row[2:]); err != nil {
			return fmt.Errorf("table %s.%s: %w", row[0], row[1], err)
		}
		return nil
	}
}

// The columns are in the order in which the functions below read them. Schema and name are the first ones.
const (
	tableColumns  = "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES"
	columnColumns = "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, " +
		"CHARACTER_MAXIMUM_LENGTH, CHARACTER_SET_NAME, COLLATION_NAME, EXTRA, GENERATION_EXPRESSION, ORDINAL_POSITION " +
		"FROM information_schema.COLUMNS"
	indexColumns = "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME, SEQ_IN_INDEX, NON_UNIQUE, SUB_PART " +
		"FROM information_schema.STATISTICS"
)

func (s *server) table(row [][]byte) *liveTable {
	name := catalog.TableName{Schema: string(row[0]), Name: string(row[1])}
	if s.tables[name] == nil {
		s.tables[name] = &liveTable{leading: map[string]bool{}}
	}
	return s.tables[name]
}

func (t *liveTable) describe(row [][]byte) error {
	t.kind, t.engine = string(row[0]), string(row[1])
	return nil
}

func (t *liveTable) addIndex(row [][]byte) error {
	name, column := string(row[0]), strings.ToLower(string(row[1])) // NULL for a part that is an expression
	if string(row[2]) == "1" {
		t.leading[column] = true
		t.primaryKey = t.primaryKey || name == "PRIMARY"
	}
	if string(row[3]) != "0" {
		return nil
	}
	if n := len(t.unique); n == 0 || t.unique[n-1].name != name {
		t.unique = append(t.unique, uniqueIndex{name: name})
	}
	if last := &t.unique[len(t.unique)-1]; row[1] != nil && row[4] == nil {
		last.columns = append(last.columns, column)
	} else {
		last.partial = true
	}
	return nil
}

func (s *server) addColumn(t *liveTable, row [][]byte) error {
	extra := strings.ToUpper(string(row[8]))
	c := liveColumn{fullType: fullType(string(row[2]))}
	c.Name = string(row[0])
	c.DataType = strings.ToLower(string(row[1]))
	c.Unsigned = strings.Contains(c.fullType, "unsigned")
	c.Nullable = string(row[3]) == "YES"
	c.AutoIncrement = strings.Contains(extra, "AUTO_INCREMENT")
	// Not DEFAULT_GENERATED, which is MySQL's word for a default that is an expression.
	c.Generated = len(row[9]) > 0 || strings.Contains(extra, "STORED GENERATED") || strings.Contains(extra, "VIRTUAL GENERATED")
	c.Invisible = strings.Contains(extra, "INVISIBLE")
	s.setDefault(&c, row[4], extra)
	c.HasDefault = c.Nullable || c.AutoIncrement || c.Generated || row[4] != nil
	if row[5] != nil {
		length, err := strconv.ParseUint(string(row[5]), 10, 63)
		if err != nil {
			return fmt.Errorf("column %s: length %q: %w", c.Name, row[5], err)
		}
		c.Length = int(length)
	}
	c.Charset, c.Collation = string(row[6]), string(row[7])
	c.PadSpace = c.Collation != "" && !s.countsSpaces(c.Collation)
	t.columns = append(t.columns, c)
	return nil
}

// countsSpaces reports whether trailing spaces count in comparisons by the collation.
func (s *server) countsSpaces(collation string) bool {
	return s.flavor.NamesNoPad(collation) || s.noPad[collation]
}

// text returns a name as an SQL literal.
func text(s string) string { return "'" + strings.NewReplacer(`'`, `''`, `\`, `\\`).Replace(s) + "'" }
