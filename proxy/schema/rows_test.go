//go:build servers

package schema

import (
	"fmt"
	"testing"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/servers"
	"locus/router/catalog"
)

func set(t *testing.T, text string, w gene.Width) gene.Set {
	t.Helper()
	s, err := gene.ParseSet(text, w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRowsFindsGenesInEveryLayout(t *testing.T) {
	byID := func(layout string) catalog.Declaration {
		return catalog.Declaration{Kind: catalog.Sharded, Owner: "owner", ID: &catalog.IDColumn{Column: "id", Layout: layout}}
	}
	cases := []struct {
		table       string
		idType      string
		declaration catalog.Declaration
		width       gene.Width
		value       string // of a row of gene 0x8123 (0x0123 in 14 bits)
		in, out     string
	}{
		{"clear", "BIGINT", byID("int64"), 16, "4652640627538788359", "0x8123", "0x0000-0x8122,0x8124-0xffff"},
		{"narrow", "BIGINT", byID("int64"), 14, "4652640627538788359", "0x0000-0x0123", "0x0124-0x3fff"},
		{"signed", "BIGINT", byID("plain64"), 16, "-9141462818631974905", "0x7fff-0x8123", "0x0000-0x8122,0x8124-0xffff"},
		{"positive", "BIGINT UNSIGNED", byID("plain64"), 16, "9305281255077576711", "0x7fff-0x8123", "0x0000-0x8122,0x8124-0xffff"},
		{"js", "BIGINT", byID("js53"), 16, "4543594362830855", "0x8100-0x8200", "0x0000-0x80ff,0x8201-0xffff"},
		{"wide", "BINARY(16)", byID("bytes16"), 16, "X'04812300000000000000000000000007'", "0x8123", "0x0000-0x8122,0x8124-0xffff"},
		{"parent", "BIGINT", catalog.Declaration{Kind: catalog.Sharded, Parent: &catalog.IDColumn{Column: "id", Layout: "int64"}}, 16, "4652640627538788359", "0x8123", "0x0000-0x8122,0x8124-0xffff"},
		{"bare", "INT", catalog.Declaration{Kind: catalog.Sharded, Owner: "owner", Gene: "id"}, 16, "33059", "0x8123", "0x0000-0x8122,0x8124-0xffff"},
	}
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 1)...)
		for _, c := range cases {
			t.Run(c.table, func(t *testing.T) {
				s.everywhere(t, fmt.Sprintf("CREATE TABLE %s (id %s NOT NULL PRIMARY KEY, owner BIGINT NOT NULL)", c.table, c.idType))
				s.Tables[s.name(c.table)] = c.declaration
				s.Settings.GeneBits = c.width
				table := s.table(t, c.table)
				delete(s.Tables, s.name(c.table))
				q := s.queriers["s0"]
				if row, err := Rows(t.Context(), q, table, gene.NewSet(gene.All(c.width))); err != nil || row != nil {
					t.Fatalf("the empty table has %v, %v", row, err)
				}
				s.everywhere(t, fmt.Sprintf("INSERT INTO %s VALUES (%s, 1)", c.table, c.value))
				row, err := Rows(t.Context(), q, table, set(t, c.in, c.width))
				if err != nil {
					t.Fatal(err)
				}
				if row == nil || row.Gene != 0x8123&c.width.Last() || row.Column != "id" {
					t.Errorf("in %s is %v", c.in, row)
				}
				if row, err := Rows(t.Context(), q, table, set(t, c.out, c.width)); err != nil || row != nil {
					t.Errorf("in %s is %v, %v", c.out, row, err)
				}
			})
		}
	})
}

func TestRowsOfManyRanges(t *testing.T) {
	s := open(t, servers.Shared(t, servers.MariaDB, 1)...)
	s.everywhere(t, testOrder)
	s.Tables[s.name("test_order")] = orders
	table := s.table(t, "test_order")
	var even []gene.Range
	for g := gene.Gene(0); g < gene.W16.Last(); g += 2 {
		even = append(even, gene.Range{First: g, Last: g})
	}
	layout, _ := orderid.ByName("int64")
	insert := func(g gene.Gene) {
		id, err := layout.Compose(g, 0, orderid.Seq(uint64(g)))
		if err != nil {
			t.Fatal(err)
		}
		s.everywhere(t, fmt.Sprintf("INSERT INTO test_order (order_id, order_no, buyer_uid, amount) VALUES (%s, 0, 0, 0)", id))
	}
	insert(0x7777)
	if row, err := Rows(t.Context(), s.queriers["s0"], table, gene.NewSet(even...)); err != nil || row != nil {
		t.Errorf("among even genes is %v, %v", row, err)
	}
	insert(0xfffe)
	row, err := Rows(t.Context(), s.queriers["s0"], table, gene.NewSet(even...))
	if err != nil || row == nil || row.Gene != 0xfffe {
		t.Errorf("among even genes is %v, %v", row, err)
	}
}

func TestRowsNeedsGenes(t *testing.T) {
	table := &catalog.Table{Declaration: catalog.Declaration{Kind: catalog.Global}}
	if _, err := Rows(t.Context(), away{}, table, gene.NewSet(gene.All(16))); err == nil {
		t.Error("no error for a global table")
	}
}

func TestUndeclared(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 1)...)
		s.everywhere(t, "CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)", "INSERT INTO b VALUES (1)")
		s.Tables[s.name("a")] = catalog.Declaration{Kind: catalog.Global}
		names, err := Undeclared(t.Context(), s.queriers["s0"], s.Cluster)
		if err != nil || len(names) != 1 || names[0] != s.name("b") {
			t.Errorf("undeclared are %v, %v", names, err)
		}
		for table, want := range map[string]bool{"a": false, "b": true} {
			if got, err := AnyRow(t.Context(), s.queriers["s0"], s.name(table)); err != nil || got != want {
				t.Errorf("%s has a row: %v, %v", table, got, err)
			}
		}
	})
}
