package plan

import (
	"slices"
	"strconv"
	"strings"

	"locus/router/stmt"
)

// SizeColumns are the columns of information_schema.TABLES whose values on one shard differ from those for all shards, in the
// order in which [Summed] reads them. The average row length is computed from them.
var SizeColumns = []string{"TABLE_ROWS", "DATA_LENGTH", "INDEX_LENGTH", "DATA_FREE", "AUTO_INCREMENT", "UPDATE_TIME"}

const averageLength = "AVG_ROW_LENGTH"

// sums reports whether a table is information_schema.TABLES and describes sharded tables.
func (c Context) sums(t stmt.TableName) bool {
	return strings.EqualFold(t.Name, "tables") && strings.EqualFold(c.schemaOf(t), "information_schema") && len(c.Catalog.ShardedSchemas()) > 0
}

// namesSizes reports whether a statement may read the size of a table.
func namesSizes(p *stmt.Places) bool {
	return p.Star || p.Names[strings.ToLower(averageLength)] ||
		slices.ContainsFunc(SizeColumns, func(column string) bool { return p.Names[strings.ToLower(column)] })
}

// Summed is a place where a statement reads information_schema.TABLES. A derived table replaces the name. It adds the sizes on
// the other shards to those on the shard that runs the statement.
type Summed struct {
	start, end stmt.Anchor
	statement  bool   // TABLE name
	alias      string // alias of the derived table; empty: the statement has one
	condition  string // condition on the rows; empty: none
}

func summed(l *stmt.Lexed, at stmt.TablePlace, condition string) Summed {
	s := Summed{start: at.Start, end: at.End, statement: at.Statement, condition: condition}
	if at.Statement || !l.Aliased(l.Offset(at.End)) {
		s.alias = quote(at.Block.Tables[at.Index].Name)
	}
	return s
}

// checkQualified refuses a statement that qualifies columns in a way that doesn't work with a derived table.
func checkQualified(places *stmt.Places, list []Summed) error {
	if len(list) > 0 && places.Qualified {
		return refuse(Unsupported, "columns of information_schema.TABLES, whose sizes are added up over the shards, written with the database's name: write TABLES.TABLE_ROWS, or give the table an alias")
	}
	return nil
}

// checkSizes refuses a statement that may read a size, because the places of its tables in the text are unknown.
func (c Context) checkSizes(l *stmt.Lexed, s *stmt.Statement, unplaced error) error {
	words := wordsOf(l).bare
	names := func(column string) bool { return slices.Contains(words, strings.ToLower(column)) }
	if slices.ContainsFunc(TablesOf(s), c.sums) && (names(averageLength) || slices.ContainsFunc(SizeColumns, names)) {
		return refuse(Unsupported, "sizes in information_schema.TABLES, which are added up over the shards, in a statement of this shape (%v): read them in a plain SELECT", unplaced)
	}
	return nil
}

// openings returns empty insertions where the places begin.
func openings(list []Summed) (at []Splice) {
	for _, s := range list {
		at = append(at, Splice{At: s.start})
	}
	return at
}

// ownSizes is the alias of the rows of the shard itself, and otherSizes is the alias of the other shards' rows. The latter
// have the columns n0 and n1, which are the database and the table as binary strings, and the sizes s0 to s5. A size is NULL
// if it is unknown.
const (
	ownSizes   = "locus_own"
	otherSizes = "locus_other"
)

// Splices returns the changes of the text. columns are the columns of information_schema.TABLES. others is a query for the
// sizes on the other shards that returns one row for each sharded table.
func (s *Summed) Splices(columns []string, others string) []Splice {
	fields := make([]string, len(columns))
	for i, column := range columns {
		fields[i] = total(strings.ToUpper(column)) + " AS " + quote(column)
	}
	before, behind := "(SELECT "+strings.Join(fields, ", ")+" FROM ", ""
	if s.statement {
		before, behind = before[1:]+"(", ")"
	}
	behind += " AS " + ownSizes + " LEFT JOIN (" + others + ") AS " + otherSizes +
		" ON CAST(" + ownSizes + ".TABLE_SCHEMA AS BINARY) = " + otherSizes + ".n0 AND CAST(" + ownSizes + ".TABLE_NAME AS BINARY) = " + otherSizes + ".n1"
	if s.condition != "" {
		behind += " WHERE " + s.condition
	}
	if !s.statement {
		behind += ")"
		if s.alias != "" {
			behind += " AS " + s.alias
		}
	}
	return []Splice{{s.start, before}, {s.end, behind}}
}

// total returns the expression of a column over all shards.
func total(column string) string {
	own := ownSizes + "." + quote(column)
	sum := func(column string) string {
		return "(" + ownSizes + "." + column + " + " + otherSizes + "." + sizeField(column) + ")"
	}
	var all string
	switch other := otherSizes + "." + sizeField(column); {
	case column == averageLength:
		rows := sum("TABLE_ROWS")
		all = "IF(" + rows + " = 0, 0, " + sum("DATA_LENGTH") + " DIV " + rows + ")"
	case column == "AUTO_INCREMENT", column == "UPDATE_TIME": // the greatest one that is not NULL
		all = "GREATEST(COALESCE(" + own + ", " + other + "), COALESCE(" + other + ", " + own + "))"
	case slices.Contains(SizeColumns, column):
		all = sum(column)
	default:
		return own
	}
	return "IF(" + otherSizes + ".n0 IS NULL, " + own + ", " + all + ")"
}

func sizeField(column string) string {
	return "s" + strconv.Itoa(slices.Index(SizeColumns, column))
}
