package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/internal/test/golden"
	"locus/router"
)

// live returns the columns of the table for which declarations are checked.
func live() []Column {
	return []Column{
		{Name: "id", DataType: "bigint"},
		{Name: "auto", DataType: "bigint", AutoIncrement: true},
		{Name: "buyer_uid", DataType: "bigint"},
		{Name: "seller", DataType: "varchar", Length: 40, Charset: "utf8mb4", Collation: "utf8mb4_bin", PadSpace: true},
		{Name: "nick", DataType: "varchar", Length: 40, Charset: "utf8mb4", Collation: "utf8mb4_0900_ai_ci"},
		{Name: "city", DataType: "varchar", Length: 40, Charset: "gbk", Collation: "gbk_bin"},
		{Name: "token", DataType: "binary", Length: 16},
		{Name: "short_token", DataType: "varbinary", Length: 8},
		{Name: "hash", DataType: "bigint", Generated: true},
		{Name: "order_no", DataType: "bigint"},
		{Name: "gene", DataType: "int", Unsigned: true},
		{Name: "tiny", DataType: "smallint"},
		{Name: "version", DataType: "int"},
		{Name: "amount", DataType: "decimal"},
		{Name: "note", DataType: "text", Charset: "utf8mb4", Collation: "utf8mb4_bin"},
		{Name: "both", DataType: "varbinary", Length: 16},
	}
}

// declarations are invalid, each with its error.
var declarations = []struct {
	what string
	d    Declaration
}{
	{"everything fits", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "ID", Layout: "int64"}, OrderNumber: "order_no", Version: "version"}},
	{"by the parent", Declaration{Kind: Sharded, Parent: &IDColumn{Column: "id", Layout: "int64"}}},
	{"by the parent, with IDs of its own", Declaration{Kind: Sharded, Parent: &IDColumn{Column: "order_no", Layout: "int64"}, ID: &IDColumn{Column: "id", Layout: "int64"}}},
	{"a bare gene", Declaration{Kind: Sharded, Owner: "seller", Gene: "gene"}},
	{"global", Declaration{Kind: Global}},
	{"single", Declaration{Kind: Single, Shard: "s1"}},
	{"no kind", Declaration{}},
	{"single without a shard", Declaration{Kind: Single}},
	{"global with a shard", Declaration{Kind: Global, Shard: "s1"}},
	{"global with an owner", Declaration{Kind: Global, Owner: "buyer_uid"}},
	{"nothing to route by", Declaration{Kind: Sharded, ID: &IDColumn{Column: "id", Layout: "int64"}}},
	{"owner and parent", Declaration{Kind: Sharded, Owner: "buyer_uid", Parent: &IDColumn{Column: "id", Layout: "int64"}}},
	{"no gene in SQL, and a shard", Declaration{Kind: Sharded, Owner: "buyer_uid", Shard: "s1"}},
	{"no such layout", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "id", Layout: "int65"}}},
	{"an order number without a key version", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "id", Layout: "plain64"}, OrderNumber: "order_no"}},
	{"an order number without an ID", Declaration{Kind: Sharded, Owner: "buyer_uid", Gene: "gene", OrderNumber: "order_no"}},
	{"hidden IDs", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "id", Layout: "int64", Hidden: true}}},
	{"hidden IDs without a key version", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "id", Layout: "js53", Hidden: true}}},
	{"hidden IDs beside an order number", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "id", Layout: "int64", Hidden: true}, OrderNumber: "order_no"}},
	{"a parent's ID that is hidden here", Declaration{Kind: Sharded, Parent: &IDColumn{Column: "id", Layout: "int64", Hidden: true}}},
	{"columns that are not there, all at once", Declaration{Kind: Sharded, Owner: "nobody", ID: &IDColumn{Column: "none", Layout: "int64"}, Version: "never"}},
	{"an owner that compares without letter case", Declaration{Kind: Sharded, Owner: "nick", ID: &IDColumn{Column: "id", Layout: "int64"}}},
	{"an owner in another character set", Declaration{Kind: Sharded, Owner: "city", ID: &IDColumn{Column: "id", Layout: "int64"}}},
	{"an owner that is padded", Declaration{Kind: Sharded, Owner: "token", ID: &IDColumn{Column: "id", Layout: "int64"}}},
	{"an owner of a type without genes", Declaration{Kind: Sharded, Owner: "amount", ID: &IDColumn{Column: "id", Layout: "int64"}}},
	{"a long text as owner", Declaration{Kind: Sharded, Owner: "note", ID: &IDColumn{Column: "id", Layout: "int64"}}},
	{"an owner that the server numbers", Declaration{Kind: Sharded, Owner: "auto", ID: &IDColumn{Column: "id", Layout: "int64"}}},
	{"an owner that is generated", Declaration{Kind: Sharded, Owner: "hash", ID: &IDColumn{Column: "id", Layout: "int64"}}},
	{"an ID that the server numbers", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "auto", Layout: "int64"}}},
	{"an ID of a wrong type", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "version", Layout: "int64"}}},
	{"a wide ID in a short column", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "short_token", Layout: "bytes16"}}},
	{"IDs of both lengths", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "both", Layout: "int64", Overflow: "bytes16"}}},
	{"both lengths in BIGINT", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "id", Layout: "int64", Overflow: "bytes16"}}},
	{"8 bytes alone in VARBINARY", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "both", Layout: "int64"}}},
	{"an overflow into 8 bytes", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "both", Layout: "int64", Overflow: "plain64"}}},
	{"an overflow of 16 bytes", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "both", Layout: "bytes16", Overflow: "bytes16"}}},
	{"a layout with too few bits of gene", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "id", Layout: "int64-14"}}},
	{"a gene column that is too small", Declaration{Kind: Sharded, Owner: "buyer_uid", Gene: "tiny"}},
	{"a gene column of text", Declaration{Kind: Sharded, Owner: "buyer_uid", Gene: "seller"}},
	{"a generated gene column", Declaration{Kind: Sharded, Owner: "buyer_uid", Gene: "hash"}},
	{"one column for two things", Declaration{Kind: Sharded, Owner: "id", ID: &IDColumn{Column: "ID", Layout: "int64"}}},
	{"the version is the owner", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "id", Layout: "int64"}, Version: "buyer_uid"}},
	{"a version of a wrong type", Declaration{Kind: Sharded, Owner: "buyer_uid", ID: &IDColumn{Column: "id", Layout: "int64"}, Version: "amount"}},
}

func TestResolve(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("What the check of a declaration against the live columns of its table says.\n")
	for _, c := range declarations {
		fmt.Fprintf(&b, "\n# %s\n", c.what)
		table, err := Resolve(TableName{"shop", "orders"}, c.d, live(), gene.W16)
		if err != nil {
			fmt.Fprintf(&b, "%s\n", err)
			continue
		}
		fmt.Fprintf(&b, "fits as %s", table.Kind)
		for _, k := range table.Keys {
			fmt.Fprintf(&b, ", %s %s", k.Role, k.Column.Name)
		}
		if table.VersionColumn >= 0 {
			fmt.Fprintf(&b, ", version %s", table.Columns[table.VersionColumn].Name)
		}
		b.WriteByte('\n')
	}
	file := filepath.Join("testdata", "declarations.txt")
	golden.Update(t, file, b.String())
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s is not what is said now (go test -update):\n%s", file, b.Bytes())
	}
}

// TestRefusalsName checks that each error names the table and the column, or the word of the declaration, that must be
// corrected.
func TestRefusalsName(t *testing.T) {
	for _, c := range declarations {
		_, err := Resolve(TableName{"shop", "orders"}, c.d, live(), gene.W16)
		if err == nil {
			continue
		}
		if !strings.Contains(err.Error(), "shop.orders") {
			t.Errorf("%s: %v does not name the table", c.what, err)
		}
	}
}

func TestCatalog(t *testing.T) {
	name := TableName{"shop", "orders"}
	table, err := Resolve(name, declarations[0].d, live(), gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Resolve(TableName{"shop", "Cities"}, Declaration{Kind: Global}, nil, gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	broken := TableName{"shop", "items"}
	reason := errors.New("no column")
	c := New([]router.ShardName{"s0", "s1"}, []*Table{table, other}, map[TableName]error{broken: reason})
	if got, err := c.Find(name); got != table || err != nil {
		t.Errorf("found %v, %v", got, err)
	}
	if got, err := c.Find(TableName{"other", "orders"}); got != nil || err != nil {
		t.Errorf("a table of another schema: %v, %v", got, err)
	}
	var unfit *BrokenError
	if _, err := c.Find(broken); !errors.As(err, &unfit) || !errors.Is(err, reason) {
		t.Errorf("a broken table: %v", err)
	}
	if c.First() != "s0" || len(c.Broken()) != 1 {
		t.Errorf("first %s, broken %v", c.First(), c.Broken())
	}
	if got := c.Tables(); len(got) != 2 || got[0] != other {
		t.Errorf("tables %v", got)
	}
	for n, want := range map[TableName]string{{"shop", "ORDERS"}: "shop.orders", {"Shop", "cities"}: "shop.Cities", {"shop", "Items"}: "shop.items", name: "", {"x", "orders"}: ""} {
		got := ""
		if declared, ok := c.OtherCase(n); ok {
			got = declared.String()
		}
		if got != want {
			t.Errorf("%s is a misspelling of %q, want %q", n, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	table, err := Resolve(TableName{"shop", "orders"}, declarations[0].d, live(), gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	if i, ok := table.Column("BUYER_uid"); !ok || table.Columns[i].Name != "buyer_uid" {
		t.Errorf("column %d, %v", i, ok)
	}
	if _, ok := table.Column("nothing"); ok {
		t.Error("a column that is not there")
	}
	if k, ok := table.KeyOf("Buyer_UID"); !ok || k != table.Root() || k.Role != Owner {
		t.Errorf("key %v, %v", k, ok)
	}
	if _, ok := table.KeyOf("amount"); ok {
		t.Error("amount is no key")
	}
	if table.IDColumn != 0 || table.OrderNumberColumn != 9 || table.VersionColumn != 12 || table.GeneColumn != -1 || table.Layout.Name() != "int64" {
		t.Errorf("%+v", table)
	}
}

func TestParseTableName(t *testing.T) {
	if n, err := ParseTableName("shop.orders"); err != nil || n != (TableName{"shop", "orders"}) {
		t.Errorf("%v, %v", n, err)
	}
	for _, s := range []string{"", "orders", ".orders", "shop.", "shop.or ders", "a/b.c"} {
		if n, err := ParseTableName(s); err == nil {
			t.Errorf("%q is %v", s, n)
		}
	}
}
