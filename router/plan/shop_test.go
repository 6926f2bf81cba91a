package plan

import (
	"errors"
	"testing"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// These are the tables that plans are tested with. Their rows are on s0, s1 and s2. s3 is registered and has no genes.

func bigint(name string) catalog.Column { return catalog.Column{Name: name, DataType: "bigint"} }

func text(name, dataType, collation string) catalog.Column {
	return catalog.Column{Name: name, DataType: dataType, Length: 40, Charset: "utf8mb4", Collation: collation, PadSpace: collation != "utf8mb4_0900_ai_ci"}
}

func typed(name, dataType string) catalog.Column {
	return catalog.Column{Name: name, DataType: dataType, Nullable: true, HasDefault: true}
}

func name(table string) catalog.TableName { return catalog.TableName{Schema: "shop", Name: table} }

func id(column string) *catalog.IDColumn {
	return &catalog.IDColumn{Column: column, Layout: "int64"}
}

var shop = []struct {
	name    string
	d       catalog.Declaration
	columns []catalog.Column
	unique  []catalog.UniqueKey
}{
	{
		"orders",
		catalog.Declaration{Kind: catalog.Sharded, Owner: "buyer_uid", ID: id("id"), OrderNumber: "order_no", Version: "version"},
		[]catalog.Column{
			bigint("id"), bigint("buyer_uid"), bigint("order_no"), typed("amount", "decimal"), typed("status", "enum"),
			text("note", "varchar", "utf8mb4_0900_ai_ci"), typed("created", "datetime"), typed("updated", "timestamp"), typed("rate", "float"),
			typed("doc", "json"), text("memo", "text", "utf8mb4_bin"), bigint("version"),
		},
		[]catalog.UniqueKey{{Name: "PRIMARY", Columns: []int{0}}, {Name: "order_no", Columns: []int{2}}},
	},
	{
		"order_item",
		catalog.Declaration{Kind: catalog.Sharded, Parent: id("order_id"), ID: id("id")},
		[]catalog.Column{bigint("id"), bigint("order_id"), text("sku", "varchar", "utf8mb4_bin"), typed("qty", "int"), typed("created", "datetime")},
		[]catalog.UniqueKey{{Name: "PRIMARY", Columns: []int{0}}},
	},
	{
		"coupon",
		catalog.Declaration{Kind: catalog.Sharded, Owner: "buyer_uid", Gene: "gene"},
		[]catalog.Column{bigint("buyer_uid"), text("code", "varchar", "utf8mb4_0900_ai_ci"), {Name: "gene", DataType: "int", Unsigned: true}, typed("amount", "decimal")},
		nil,
	},
	{
		"member",
		catalog.Declaration{Kind: catalog.Sharded, Owner: "nick", ID: &catalog.IDColumn{Column: "id", Layout: "bytes16"}},
		[]catalog.Column{{Name: "id", DataType: "binary", Length: 16}, text("nick", "varchar", "utf8mb4_bin"), typed("born", "date")},
		nil,
	},
	{
		"ledger",
		catalog.Declaration{Kind: catalog.Sharded, Owner: "buyer_uid", ID: &catalog.IDColumn{Column: "id", Layout: "plain64"}},
		[]catalog.Column{bigint("id"), bigint("buyer_uid"), typed("amount", "decimal")},
		nil,
	},
	{"country", catalog.Declaration{Kind: catalog.Global}, []catalog.Column{typed("code", "char"), text("name", "varchar", "utf8mb4_0900_ai_ci")}, nil},
	{"setting", catalog.Declaration{Kind: catalog.Global}, []catalog.Column{{Name: "id", DataType: "int", AutoIncrement: true}, typed("value", "int")}, nil},
	{
		"ticket",
		catalog.Declaration{Kind: catalog.Sharded, Owner: "buyer_uid", ID: id("id"), Stamped: map[string]string{"serial": "serials"}},
		[]catalog.Column{
			bigint("id"), bigint("buyer_uid"), bigint("serial"),
			{Name: "code", DataType: "int", Nullable: true, HasDefault: true, DefaultsToNull: true},
			typed("seat", "int"),
		},
		[]catalog.UniqueKey{{Name: "PRIMARY", Columns: []int{0}}, {Name: "serial", Columns: []int{2}}, {Name: "code", Columns: []int{3}}, {Name: "seat", Columns: []int{1, 4}}},
	},
	{
		"visit",
		catalog.Declaration{Kind: catalog.Sharded, Owner: "buyer_uid", Gene: "gene"},
		[]catalog.Column{{Name: "n", DataType: "int", Unsigned: true, AutoIncrement: true}, bigint("buyer_uid"), {Name: "gene", DataType: "int"}, typed("what", "int")},
		[]catalog.UniqueKey{{Name: "PRIMARY", Columns: []int{0}}},
	},
	{
		"notice",
		catalog.Declaration{Kind: catalog.Global},
		[]catalog.Column{
			typed("k", "int"),
			{Name: "token", DataType: "char", HasDefault: true, Default: catalog.Anew},
			{Name: "made", DataType: "datetime", HasDefault: true, Default: catalog.Clock},
			typed("v", "int"),
		},
		[]catalog.UniqueKey{{Name: "PRIMARY", Columns: []int{0}}},
	},
	{"audit", catalog.Declaration{Kind: catalog.Single, Shard: "s1"}, []catalog.Column{bigint("id"), bigint("buyer_uid"), typed("what", "int")}, nil},
	{
		"district",
		catalog.Declaration{Kind: catalog.Sharded, Owner: "w_id"},
		[]catalog.Column{{Name: "w_id", DataType: "int"}, typed("d_id", "int"), {Name: catalog.OwnGene, DataType: "mediumint", HasDefault: true, Invisible: true}},
		nil,
	},
	{
		"parcel",
		catalog.Declaration{Kind: catalog.Sharded, Owner: "buyer_uid", ID: id("id")},
		[]catalog.Column{bigint("id"), bigint("buyer_uid"), typed("weight", "int"), {Name: "size", DataType: "int", Nullable: true, HasDefault: true, Invisible: true}},
		nil,
	},
	{
		"letter",
		catalog.Declaration{
			Kind: catalog.Sharded, Owner: "buyer_uid", ID: id("id"),
			Stamped: map[string]string{"code": "letters"}, GeneText: &catalog.GeneText{Column: "code", At: 7},
		},
		[]catalog.Column{bigint("id"), bigint("buyer_uid"), text("code", "varchar", "utf8mb4_0900_ai_ci"), typed("weight", "int")},
		[]catalog.UniqueKey{{Name: "PRIMARY", Columns: []int{0}}, {Name: "code", Columns: []int{2}}},
	},
	{"carrier", catalog.Declaration{Kind: catalog.Global}, []catalog.Column{typed("code", "int"), text("name", "varchar", "utf8mb4_bin")}, nil},
	{
		"person",
		catalog.Declaration{Kind: catalog.Sharded, Owner: "id"},
		[]catalog.Column{
			bigint("id"), emailColumn(true), text("town", "varchar", "utf8mb4_bin"), bigint("phone"),
			{Name: catalog.OwnGene, DataType: "mediumint", HasDefault: true, Invisible: true},
		},
		[]catalog.UniqueKey{{Name: "PRIMARY", Columns: []int{0}}, {Name: "email", Columns: []int{1}}, {Name: "phone", Columns: []int{3}}},
	},
	{
		"person_by_email",
		catalog.Declaration{Kind: catalog.Sharded, Owner: catalog.LookupHash, Lookup: &catalog.LookupOf{Table: "person", Column: "email", Kept: true, Filled: true}},
		entryColumns(emailColumn(false)),
		[]catalog.UniqueKey{{Name: "PRIMARY", Columns: []int{1, 0}}},
	},
	{
		"person_by_phone",
		catalog.Declaration{Kind: catalog.Sharded, Owner: catalog.LookupHash, Lookup: &catalog.LookupOf{Table: "person", Column: "phone", Kept: true}},
		entryColumns(bigint("phone")),
		[]catalog.UniqueKey{{Name: "PRIMARY", Columns: []int{1, 0}}},
	},
	{"report", catalog.Declaration{Kind: catalog.Single, Shard: "s0"}, []catalog.Column{bigint("id"), bigint("buyer_uid")}, nil},
}

// uneven are the tables whose columns differ between shards.
var uneven = map[string]catalog.Unevenness{
	"parcel":  {Partial: []catalog.Column{typed("colour", "varchar")}, Hidden: []string{"size"}},
	"carrier": {Partial: []catalog.Column{{Name: "since", DataType: "datetime", HasDefault: true, Default: catalog.Clock}}},
}

func emailColumn(nullable bool) catalog.Column {
	return catalog.Column{Name: "email", DataType: "varchar", Length: 60, Charset: "utf8mb4", Collation: "utf8mb4_general_ci", PadSpace: true, Nullable: nullable, DefaultsToNull: nullable, HasDefault: nullable}
}

// entryColumns are the columns of a look-up table.
func entryColumns(of catalog.Column) []catalog.Column {
	return []catalog.Column{
		of, {Name: catalog.LookupHash, DataType: "bigint", Unsigned: true}, {Name: catalog.LookupGene, DataType: "int", Unsigned: true},
		{Name: catalog.OwnGene, DataType: "mediumint", HasDefault: true, Invisible: true},
	}
}

func shopCatalog(t testing.TB) *catalog.Catalog {
	t.Helper()
	var tables []*catalog.Table
	for _, s := range shop {
		table, err := catalog.Resolve(name(s.name), s.d, s.columns, gene.W16)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table.WithUnique(s.unique).WithUneven(uneven[s.name]))
	}
	return catalog.New([]router.ShardName{"s0", "s1", "s2", "s3"}, tables, map[catalog.TableName]error{
		name("refund"): &catalog.Misfit{Kind: catalog.Sharded, Err: errors.New("column buyer_uid: declared as owner, but the table has no such column")},
	})
}

func shopMap(t testing.TB) *router.Map {
	t.Helper()
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0x3fff, Shard: "s0"}, {Bound: 0x7fff, Shard: "s1"}, {Bound: 0xffff, Shard: "s2"}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func lexedText(text string, mode stmt.Mode) *stmt.Lexed {
	var l stmt.Lexed
	l.Lex([]byte(text), mode)
	if l.Conditional {
		l.Resolve(nil)
	}
	return &l
}
