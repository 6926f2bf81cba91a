package plan

import (
	"fmt"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// sortKey returns the field that an item of ORDER BY names, or the text of a hidden column for it.
func sortKey(b *stmt.Block, sc *scope, item stmt.OrderItem) (SortKey, string, *Refusal) {
	key := SortKey{Desc: item.Desc}
	if item.Literal {
		at := int(item.Position.Const.Int) - 1
		if at < 0 || at >= len(b.Fields) || hasStar(b.Fields[:at+1]) {
			return key, "", refuse(ScatterShape, "ORDER BY %d over rows of several shards: name the column", at+1)
		}
		return fieldKey(b, sc, key, at)
	}
	if item.Column == nil {
		return key, "", refuse(ScatterShape, "ORDER BY an expression over rows of several shards: give it an alias in the SELECT list, or %s", narrowIt)
	}
	switch at := fieldNamed(b, item.Column); {
	case at >= 0:
		return fieldKey(b, sc, key, at)
	case at == severalFields:
		return key, "", refuse(ScatterShape, "ORDER BY %s, the alias of several fields, over rows of several shards: give them different ones", item.Column.Name)
	}
	return columnKey(b, sc, key, *item.Column)
}

func hasStar(fields []stmt.Field) bool {
	for _, f := range fields {
		if f.Star {
			return true
		}
	}
	return false
}

// fieldNamed returns the index of the field that an unqualified name in ORDER BY refers to, -1, or severalFields.
func fieldNamed(b *stmt.Block, ref *stmt.ColumnRef) int {
	if ref.Table != "" {
		return -1
	}
	found := -1
	for i, f := range b.Fields {
		if !strings.EqualFold(f.Alias, ref.Name) {
			continue
		}
		if found >= 0 {
			return severalFields
		}
		found = i
	}
	return found
}

// severalFields means that several fields have the name. Servers differ in which of them ORDER BY uses.
const severalFields = -2

// fieldKey returns the sort key for a field. If the field is a column, the column's order applies. Otherwise the values in the
// answer are compared.
func fieldKey(b *stmt.Block, sc *scope, key SortKey, at int) (SortKey, string, *Refusal) {
	if c := b.Fields[at].Column; c != nil {
		return columnKey(b, sc, key, *c)
	}
	key.Column, key.Computed = at, !b.Distinct && !b.Grouped
	if hasStar(b.Fields[:at]) {
		if hasStar(b.Fields[at:]) {
			return key, "", refuse(ScatterShape, "ORDER BY a field between two * over rows of several shards: name the column")
		}
		key.Column = at - len(b.Fields)
	}
	return key, "", nil
}

// columnKey returns the hidden column that sorts like a column of a table.
func columnKey(b *stmt.Block, sc *scope, key SortKey, ref stmt.ColumnRef) (SortKey, string, *Refusal) {
	n, c := sc.column(b, ref)
	if c == nil {
		return key, "", refuse(ScatterShape, "ORDER BY %s over rows of several shards: no declared table has the column, or several have it", ref.Name)
	}
	name := quote(n.ref.Alias) + "." + quote(c.Name)
	switch c.DataType {
	case "char", "varchar":
		key.Weighted = true
		switch {
		case !c.PadSpace:
			return key, "WEIGHT_STRING(" + name + ")", nil
		case oneWeight(c.Collation):
			return key, fmt.Sprintf("WEIGHT_STRING(%s AS CHAR(%d))", name, c.Length), nil
		}
		// A letter that expands makes a longer key, so that padding by characters is not enough.
		if key.Pad = spaceWeight(c.Collation); key.Pad != nil {
			return key, "WEIGHT_STRING(" + name + ")", nil
		}
		return key, "", refuse(ScatterShape, "ORDER BY %s, whose collation is %s, over rows of several shards: order by another column, or %s", c.Name, c.Collation, narrowIt)
	case "enum", "set", "bit":
		return key, name + " + 0", nil
	case "float": // the text of a FLOAT is rounded
		return key, name + " + 0e0", nil
	case "timestamp": // the text of a TIMESTAMP goes back an hour every autumn
		return key, "UNIX_TIMESTAMP(" + name + ")", nil
	case "tinyblob", "blob", "mediumblob", "longblob", "binary", "varbinary":
		key.Weighted = true
		return key, name, nil
	}
	if !comparable(c.DataType) {
		return key, "", refuse(ScatterShape, "ORDER BY %s, a %s column, over rows of several shards: order by another column, or %s", c.Name, c.DataType, narrowIt)
	}
	return key, name, nil
}

// oneWeight reports whether each character has one weight in a collation.
func oneWeight(collation string) bool {
	return strings.HasSuffix(collation, "_bin") || strings.HasSuffix(collation, "_general_ci") || collation == "latin1_swedish_ci"
}

// spaceWeights are the weights of a space in the collations that compare primary weights of the Unicode Collation Algorithm (UTS #10), of two
// bytes each, after they have extended the shorter text by spaces. The character set in front is left out. Servers never change the weights of a
// collation.
var spaceWeights = func() map[string][]byte {
	all := map[string][]byte{"unicode_520_ci": {0x02, 0x0a}, "uca1400_ai_ci": {0x02, 0x09}}
	for name := range strings.FieldsSeq("unicode croatian czech danish esperanto estonian german2 hungarian icelandic latvian lithuanian persian polish roman " +
		"romanian sinhala slovak slovenian spanish spanish2 swedish turkish vietnamese") {
		all[name+"_ci"] = []byte{0x02, 0x09}
	}
	return all
}()

// spaceWeight returns the weight of a space in a collation of [spaceWeights], or nil.
func spaceWeight(collation string) []byte {
	charset, rest, _ := strings.Cut(collation, "_")
	if charset != "utf8mb4" && charset != "utf8mb3" {
		return nil
	}
	return spaceWeights[rest]
}

// comparable reports whether values of a type can be compared outside of the server, as the answer contains them. TIMESTAMP
// values can't: as text they go back an hour every autumn.
func comparable(dataType string) bool {
	switch dataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double",
		"date", "datetime", "time", "year", "binary", "varbinary":
		return true
	}
	return false
}

// column returns the table of a column, and the column. The column is nil if its table is not known.
func (sc *scope) column(b *stmt.Block, ref stmt.ColumnRef) (*node, *catalog.Column) {
	n, _ := sc.resolve(b, ref)
	if n == nil || !n.known() {
		return n, nil
	}
	i, ok := n.table.Column(ref.Name)
	if !ok {
		return n, nil
	}
	return n, &n.table.Columns[i]
}
