package catalog

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
	"locus/router/stmt"
)

// sideTables returns a table for each way in which a column stores IDs.
func sideTables() (tables []*Table, types []string) {
	for _, c := range []struct {
		sqlType string
		Key
	}{
		{"BIGINT NOT NULL", Key{Column: &Column{DataType: "bigint"}, Layout: layoutNamed("int64")}},
		{"BIGINT UNSIGNED NOT NULL", Key{Column: &Column{DataType: "bigint", Unsigned: true}, Layout: layoutNamed("plain64")}},
		{"BIGINT NOT NULL", Key{Column: &Column{DataType: "bigint"}, Layout: layoutNamed("plain64")}},
		{"BIGINT NOT NULL", Key{Column: &Column{DataType: "bigint"}, Layout: layoutNamed("js53")}},
		{"BINARY(16) NOT NULL", Key{Column: &Column{DataType: "binary", Length: 16}, Layout: layoutNamed("bytes16")}},
		{"VARBINARY(16) NOT NULL", Key{Column: &Column{DataType: "varbinary", Length: 16}, Layout: layoutNamed("int64"), Wide: layoutNamed("bytes16")}},
	} {
		c.Role, c.Column.Name, c.width = ID, "id", gene.W16
		tables = append(tables, &Table{TableName: TableName{Schema: "compare", Name: fmt.Sprintf("side%d", len(tables))}, Width: gene.W16, Keys: []Key{c.Key}})
		types = append(types, c.sqlType)
	}
	return tables, types
}

// checkSides selects the rows that don't belong to other shards. It compares the server's results with what the keys return for the values.
func checkSides(t *testing.T, db *sql.DB) {
	const hot, other = gene.Gene(0x9eab), gene.Gene(0x1000)
	foreign := []router.Foreign{
		{Parts: []router.Part{{Genes: genes(hot), First: 0, End: 35}}},
		{Parts: []router.Part{{Genes: genes(hot), First: 35, End: orderid.Modulus}}},
		{Genes: genes(other), Parts: []router.Part{{Genes: genes(hot), First: 1, End: orderid.Modulus}, {Genes: genes(other + 1), First: 7, End: 9}}},
		{Genes: genes(hot)},
	}
	random := rand.New(rand.NewPCG(1, 2))
	tables, types := sideTables()
	for i, table := range tables {
		key := table.Side()
		if _, err := db.Exec("CREATE TABLE " + table.Name + " (id " + types[i] + " PRIMARY KEY, n INT)"); err != nil {
			t.Fatal(err)
		}
		none := make([]int, len(foreign)) // the number of rows that are none of those
		for n := range 200 {
			l := key.Layout
			if n%2 == 0 && !key.Wide.IsZero() {
				l = key.Wide
			}
			g, last := []gene.Gene{hot, hot, other, other + 1, 0x3000}[n%5], l.MaxSequence()
			s := []orderid.Sequence{
				{Hi: random.Uint64() & last.Hi, Lo: random.Uint64() & last.Lo}, orderid.Seq(uint64(n)), last, {Hi: last.Hi, Lo: last.Lo - uint64(n)},
			}[n%4]
			id, err := l.Compose(g, 0, s)
			if err != nil {
				t.Fatal(err)
			}
			inserted, err := db.Exec("INSERT IGNORE INTO " + table.Name + " VALUES (" + string(key.Column.AppendID(nil, l, id)) + ", 0)")
			if err != nil {
				t.Fatal(err)
			}
			if is, _ := inserted.RowsAffected(); is == 0 {
				continue
			}
			for k, f := range foreign {
				if !f.Has(g, l.Residue(id)) {
					none[k]++
				}
			}
			value := stmt.Value{Kind: stmt.Bytes, Text: l.AppendBytes(nil, id)}
			if key.Column.IsInteger() {
				value = stmt.UintValue(id.Lo)
			}
			if r, ok := key.Residue(value); !ok || r != l.Residue(id) {
				t.Errorf("%s %s: residue %d, %v of %s", types[i], key.layouts(), r, ok, id)
			}
		}
		for k, f := range foreign {
			condition := table.NoneOf(table.Name, f)
			var found int
			if err := db.QueryRow("SELECT COUNT(*) FROM " + table.Name + " WHERE " + condition).Scan(&found); err != nil || found != none[k] {
				t.Errorf("%s %s: %d rows are none of %s, and the server found %d (%v) by\n%s", types[i], key.layouts(), none[k], f, found, err, condition)
			}
			changed, err := db.Exec("UPDATE " + table.Name + " SET n = n + 1 WHERE " + condition)
			if err != nil {
				t.Fatalf("in a change: %v", err)
			}
			if rows, _ := changed.RowsAffected(); int(rows) != none[k] {
				t.Errorf("%s %s: %d rows are changed, and %d are none of %s", types[i], key.layouts(), rows, none[k], f)
			}
		}
	}
}

func genes(g gene.Gene) gene.Set { return gene.NewSet(gene.Range{First: g, Last: g}) }

// A value that servers may compare as a double, or as another type, has no known residue.
func TestResidueOfValues(t *testing.T) {
	key := id
	for _, test := range []struct {
		v     stmt.Value
		alone int // -1: no residue is known
		list  int
	}{
		{stmt.IntValue(123), 23, 23},
		{stmt.UintValue(1<<47 | 123), 23, 23},
		{text("123"), 23, 23},
		{text("140737488355451"), 23, 23}, // 1<<47 | 123
		{text("9223367638808265096"), 92, -1},
		{text("123abc"), -1, -1},
		{text("123.5"), -1, -1},
		{stmt.Value{Kind: stmt.Float, Float: 123}, -1, -1},
		{stmt.Value{Kind: stmt.Null}, -1, -1},
		{stmt.Value{}, -1, -1},
	} {
		for what, read := range map[string]func(stmt.Value) (orderid.Residue, bool){"alone": key.Residue, "in a list": key.ResidueInList} {
			want := test.alone
			if what != "alone" {
				want = test.list
			}
			if r, ok := read(test.v); ok != (want >= 0) || ok && int(r) != want {
				t.Errorf("%s %s: residue %d, %v, and not %d", test.v, what, r, ok, want)
			}
		}
	}
	owner := Key{Role: Owner, Column: bigint, width: gene.W16}
	if _, ok := owner.Residue(stmt.IntValue(5)); ok {
		t.Error("an owner tells a residue")
	}
}

// The side is the parent's ID if there is one. It is never a column that may be NULL, and never an order number.
func TestSide(t *testing.T) {
	c := func(name string) *Column { return &Column{Name: name, DataType: "bigint"} }
	nullable := c("parent")
	nullable.Nullable = true
	number := Key{Role: OrderNumber, Column: c("number")}
	for want, keys := range map[string][]Key{
		"parent": {{Role: Parent, Column: c("parent")}, {Role: ID, Column: c("id")}, number},
		"id":     {{Role: Owner, Column: c("owner")}, {Role: ID, Column: c("id")}, number},
		"":       {{Role: Owner, Column: c("owner")}, {Role: Gene, Column: c("gene")}},
		"null":   {{Role: Parent, Column: nullable}, {Role: ID, Column: c("id")}},
	} {
		table := &Table{Keys: keys}
		switch side := table.Side(); {
		case side == nil && (want == "" || want == "null"):
		case side == nil || side.Column.Name != want:
			t.Errorf("%s: %v", want, side)
		case !slices.ContainsFunc(keys, func(k Key) bool { return k.Column == side.Column }):
			t.Errorf("%s is none of the keys", side.Column.Name)
		}
	}
}
