package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/router/catalog"
)

// Querier asks one server; a [link.Conn] is one.
type Querier interface {
	Query(ctx context.Context, sql string) ([][][]byte, error)
	Version() link.Version
}

// Read asks a server for a declared table. An error says everything that keeps
// the table from being moved.
func Read(ctx context.Context, q Querier, name catalog.TableName, d catalog.Declaration, width gene.Width) (*Table, error) {
	return readSharded(reader{ctx: ctx, q: q, name: name}, d, width)
}

// ReadUnmade is Read of a table that may lack the column for the gene that locus makes: as it will be once it has it.
func ReadUnmade(ctx context.Context, q Querier, name catalog.TableName, d catalog.Declaration, width gene.Width) (*Table, error) {
	return readSharded(reader{ctx: ctx, q: q, name: name, makes: d.MakesGene()}, d, width)
}

func readSharded(r reader, d catalog.Declaration, width gene.Width) (*Table, error) {
	name := r.name
	if d.Kind != catalog.Sharded {
		return nil, fmt.Errorf("table %s is %s: its rows have no gene and don't move", name, d.Kind)
	}
	t, err := r.read(d, width)
	if err != nil {
		return nil, err
	}
	t.telling, err = findTelling(t)
	return t, err
}

// ReadGlobal asks a server for a table that is declared to have the same rows on
// all shards: nothing that concerns genes may be asked of it.
func ReadGlobal(ctx context.Context, q Querier, name catalog.TableName, d catalog.Declaration, width gene.Width) (*Table, error) {
	r := reader{ctx: ctx, q: q, name: name}
	return r.read(d, width)
}

func (r *reader) read(d catalog.Declaration, width gene.Width) (*Table, error) {
	name := r.name
	columns, err := r.columns()
	if err != nil {
		return nil, fmt.Errorf("read the columns of table %s: %w", name, err)
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("table %s does not exist there, or the account may not see it: create it, or GRANT SELECT on it", name)
	}
	plain := make([]catalog.Column, len(columns))
	for i := range columns {
		plain[i] = columns[i].Column
	}
	declared, err := catalog.Resolve(name, d, plain, width)
	if err != nil {
		return nil, err
	}
	primary, unique, err := r.indexes(columns)
	if err != nil {
		return nil, fmt.Errorf("read the indexes of table %s: %w", name, err)
	}
	t, err := newTable(declared, columns, primary, unique)
	if err != nil {
		return nil, err
	}
	t.Estimate, t.RowBytes, err = r.estimate()
	return t, err
}

type reader struct {
	ctx  context.Context
	q    Querier
	name catalog.TableName
	// makes: the column for the gene is made where it isn't there yet.
	makes bool
}

func (r *reader) which() string {
	return " WHERE TABLE_SCHEMA = " + link.Text(r.name.Schema) + " AND TABLE_NAME = " + link.Text(r.name.Name)
}

func (r *reader) columns() ([]Column, error) {
	rows, err := r.q.Query(r.ctx, "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT,"+
		" CHARACTER_MAXIMUM_LENGTH, CHARACTER_SET_NAME, COLLATION_NAME, EXTRA, GENERATION_EXPRESSION, CHARACTER_OCTET_LENGTH"+
		" FROM information_schema.COLUMNS"+r.which()+" ORDER BY ORDINAL_POSITION")
	if err != nil {
		return nil, err
	}
	noPad, err := r.noPad()
	if err != nil {
		return nil, err
	}
	columns := make([]Column, len(rows))
	for i, row := range rows {
		if columns[i], err = column(row, noPad); err != nil {
			return nil, err
		}
		columns[i].classify(r.q.Version().Flavor)
	}
	if r.makes && len(columns) > 0 && !slices.ContainsFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, catalog.OwnGene) }) {
		columns = append(columns, r.ownGene())
	}
	return columns, nil
}

// ownGene is the column as the server would describe it.
func (r *reader) ownGene() Column {
	c := Column{Column: catalog.OwnGeneColumn(), FullType: "mediumint"}
	if r.q.Version().Flavor == link.MariaDB {
		c.FullType = "mediumint(9)"
	}
	c.classify(r.q.Version().Flavor)
	return c
}

// noPad tells which collations count trailing spaces.
func (r *reader) noPad() (func(collation string) bool, error) {
	if r.q.Version().Flavor == link.MariaDB {
		return func(c string) bool { return strings.Contains(c, "nopad") }, nil
	}
	rows, err := r.q.Query(r.ctx, "SELECT COLLATION_NAME FROM information_schema.COLLATIONS WHERE PAD_ATTRIBUTE = 'NO PAD'")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, row := range rows {
		known[string(row[0])] = true
	}
	return func(c string) bool { return known[c] }, nil
}

func column(row [][]byte, noPad func(string) bool) (Column, error) {
	extra := strings.ToUpper(string(row[8]))
	c := Column{FullType: strings.ToLower(string(row[2]))}
	c.Name = string(row[0])
	c.DataType = strings.ToLower(string(row[1]))
	c.Unsigned = strings.Contains(c.FullType, "unsigned")
	c.Nullable = string(row[3]) == "YES"
	c.AutoIncrement = strings.Contains(extra, "AUTO_INCREMENT")
	// Not DEFAULT_GENERATED, which MySQL says of a default that is an expression.
	c.Generated = len(row[9]) > 0 || strings.Contains(extra, "STORED GENERATED") || strings.Contains(extra, "VIRTUAL GENERATED")
	c.OnUpdate = strings.Contains(extra, "ON UPDATE")
	c.Invisible = strings.Contains(extra, "INVISIBLE")
	c.HasDefault = c.Nullable || c.AutoIncrement || c.Generated || row[4] != nil
	var err error
	if c.Length, err = length(row[5]); err != nil {
		return c, fmt.Errorf("column %s: %w", c.Name, err)
	}
	if c.DataType == "binary" {
		if c.Bytes, err = length(row[10]); err != nil {
			return c, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	c.Charset, c.Collation = string(row[6]), string(row[7])
	c.PadSpace = c.Collation != "" && !noPad(c.Collation)
	return c, nil
}

func length(v []byte) (int, error) {
	if v == nil {
		return 0, nil
	}
	n, err := strconv.ParseUint(string(v), 10, 63)
	return int(n), err
}

func (r *reader) indexes(columns []Column) (primary []int, unique []Index, err error) {
	rows, err := r.q.Query(r.ctx, "SELECT INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS"+r.which()+
		" AND NON_UNIQUE = 0 ORDER BY INDEX_NAME, SEQ_IN_INDEX")
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		name, at := string(row[0]), -1
		for i := range columns {
			if row[2] == nil && strings.EqualFold(columns[i].Name, string(row[1])) {
				at = i
			}
		}
		switch {
		case name == "PRIMARY" && at < 0:
			return nil, nil, errors.New("the primary key has a part of a column, which does not tell rows apart in order; use whole columns")
		case name == "PRIMARY":
			primary = append(primary, at)
		case len(unique) > 0 && unique[len(unique)-1].Name == name:
			unique[len(unique)-1].Columns = append(unique[len(unique)-1].Columns, at)
		default:
			unique = append(unique, Index{name, []int{at}})
		}
	}
	return primary, unique, nil
}

// estimate gives the number of rows and the bytes of one, by the server's statistics.
func (r *reader) estimate() (rows, bytes uint64, err error) {
	told, err := r.q.Query(r.ctx, "SELECT IFNULL(TABLE_ROWS, 0), IFNULL(AVG_ROW_LENGTH, 0) FROM information_schema.TABLES"+r.which())
	if err != nil || len(told) == 0 {
		return 0, 0, err
	}
	if rows, err = strconv.ParseUint(string(told[0][0]), 10, 64); err != nil {
		return 0, 0, err
	}
	bytes, err = strconv.ParseUint(string(told[0][1]), 10, 64)
	return rows, bytes, err
}
