package catalog

import (
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/router/stmt"
)

func letters(t *testing.T, column Column, at int, w gene.Width) (*Key, error) {
	t.Helper()
	d := Declaration{
		Kind: Sharded, Owner: "owner", ID: &IDColumn{Column: "id", Layout: "bytes16"},
		Stamped: map[string]string{"code": "letters"}, GeneText: &GeneText{"code", at},
	}
	column.Name = "code"
	table, err := Resolve(TableName{"shop", "letter"}, d, []Column{{Name: "owner", DataType: "bigint"}, {Name: "id", DataType: "binary", Length: 16}, column}, w)
	if err != nil {
		return nil, err
	}
	k, is := table.KeyOf("CODE")
	if !is || k.Role != Text {
		t.Fatalf("the column is %v", k)
	}
	return k, nil
}

func TestGeneText(t *testing.T) {
	column := Column{DataType: "varchar", Length: 12, Charset: "utf8mb4", Collation: "utf8mb4_general_ci"}
	k, err := letters(t, column, 3, gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v     stmt.Value
		want  gene.Gene
		match Match
	}{
		{text("L-3eab-1"), 0x3eab, Here},
		{text("L-3EAB-1"), 0x3eab, Here},
		{text("L-3eab"), 0x3eab, Here},
		{text("L-3ea"), 0, Anywhere},
		{text("L-3xab-1"), 0, Anywhere},
		{text("L-+eab-1"), 0, Anywhere},
		{text("ß3eab-1"), 0, Anywhere},
		{text("L-3eab-ß"), 0, Anywhere},
		{text("L-\x003eab"), 0, Anywhere},
		{stmt.IntValue(13), 0, Anywhere},
		{stmt.Value{Kind: stmt.Null}, 0, Nowhere},
		{stmt.Value{Kind: stmt.Unknown}, 0, Anywhere},
	} {
		if g, match := k.Of(c.v); g != c.want || match != c.match {
			t.Errorf("%s is of gene %s, %d, want %s, %d", c.v, g, match, c.want, c.match)
		}
		if g, err := k.Stored(c.v); (err == nil) != (c.match == Here) || g != c.want {
			t.Errorf("%s is stored with gene %s, %v", c.v, g, err)
		}
	}
	if _, match := k.Of(stmt.Value{Kind: stmt.Bytes, Text: []byte("L-3eab-1")}); match != Anywhere {
		t.Errorf("bytes that are compared with text: %d", match)
	}
	if _, err := k.Stored(text("L-3eab-123456")); err == nil {
		t.Error("a text that is longer than the column is stored")
	}
	wide, err := letters(t, column, 1, gene.W23)
	if err != nil {
		t.Fatal(err)
	}
	if g, match := wide.Of(text("033eab1")); g != 0x033eab || match != Here {
		t.Errorf("a gene of 23 bits: %s, %d", g, match)
	}
	if g, match := wide.Of(text("f33eab1")); match != Anywhere {
		t.Errorf("a gene of more than 23 bits: %s, %d", g, match)
	}
}

func TestGeneTextRefuses(t *testing.T) {
	for _, c := range []struct {
		column Column
		at     int
		want   string
	}{
		{Column{DataType: "varchar", Length: 12}, 9, ""},
		{Column{DataType: "varchar", Length: 12}, 10, "use a longer column"},
		{Column{DataType: "varchar", Length: 12}, 0, "from 1 to 255"},
		{Column{DataType: "varbinary", Length: 12}, 1, ""},
		{Column{DataType: "bigint"}, 1, "is VARCHAR, CHAR or VARBINARY"},
		{Column{DataType: "varchar", Length: 12, Generated: true}, 1, "generated column"},
	} {
		_, err := letters(t, c.column, c.at, gene.W16)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v at %d: %v, want %q", c.column, c.at, err, c.want)
		}
	}
	d := Declaration{Kind: Sharded, Owner: "owner", ID: &IDColumn{Column: "id", Layout: "int64"}, GeneText: &GeneText{"code", 1}}
	if err := d.Validate(); err == nil || !strings.Contains(err.Error(), "column code is not stamped") {
		t.Error(err)
	}
}
