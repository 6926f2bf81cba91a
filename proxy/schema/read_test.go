//go:build servers

package schema

import (
	"testing"

	"locus/internal/test/servers"
	"locus/router/catalog"
)

func TestColumnsOfBothEngines(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 1)...)
		nopad, charset := "utf8mb4_nopad_bin", "utf8mb3"
		if engine == servers.MySQL {
			nopad = "utf8mb4_0900_bin"
		}
		s.everywhere(t, `CREATE TABLE kinds (
			id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
			small SMALLINT NOT NULL,
			zero INT(9) ZEROFILL NOT NULL DEFAULT 0,
			name VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
			plain CHAR(7) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci DEFAULT NULL,
			exact VARCHAR(40) CHARACTER SET utf8mb4 COLLATE `+nopad+` NOT NULL DEFAULT '',
			raw VARBINARY(16) NOT NULL,
			fixed BINARY(16),
			amount DECIMAL(12,2) NOT NULL DEFAULT 1.5,
			at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
			twice INT GENERATED ALWAYS AS (small * 2) VIRTUAL,
			thrice INT GENERATED ALWAYS AS (small * 3) STORED,
			hidden INT NOT NULL DEFAULT 7 INVISIBLE,
			computed VARCHAR(50) DEFAULT (UUID()) NOT NULL
		)`)
		s.Tables[s.name("kinds")] = catalog.Declaration{Kind: catalog.Single, Shard: "s0"}
		want := []catalog.Column{
			{Name: "id", DataType: "bigint", Unsigned: true, AutoIncrement: true, HasDefault: true},
			{Name: "small", DataType: "smallint"},
			{Name: "zero", DataType: "int", Unsigned: true, HasDefault: true},
			{Name: "name", DataType: "varchar", Length: 40, Charset: "utf8mb4", Collation: "utf8mb4_bin", PadSpace: true},
			{Name: "plain", DataType: "char", Nullable: true, HasDefault: true, DefaultsToNull: true, Length: 7, Charset: charset, Collation: "utf8mb3_general_ci", PadSpace: true},
			{Name: "exact", DataType: "varchar", HasDefault: true, Length: 40, Charset: "utf8mb4", Collation: nopad},
			{Name: "raw", DataType: "varbinary", Length: 16},
			{Name: "fixed", DataType: "binary", Nullable: true, HasDefault: true, DefaultsToNull: true, Length: 16},
			{Name: "amount", DataType: "decimal", HasDefault: true},
			{Name: "at", DataType: "datetime", HasDefault: true, Default: catalog.Clock, OnUpdate: true},
			{Name: "twice", DataType: "int", Nullable: true, Generated: true, HasDefault: true},
			{Name: "thrice", DataType: "int", Nullable: true, Generated: true, HasDefault: true},
			{Name: "hidden", DataType: "int", Invisible: true, HasDefault: true},
			{Name: "computed", DataType: "varchar", HasDefault: true, Default: catalog.Anew, Length: 50},
		}
		got := s.table(t, "kinds").Columns
		if len(got) != len(want) {
			t.Fatalf("%d columns, want %d", len(got), len(want))
		}
		for i, c := range got {
			if c.Name == "computed" { // the computed column has the server's default collation
				c.Charset, c.Collation, c.PadSpace = "", "", false
			}
			if c != want[i] {
				t.Errorf("column is\n  %+v\nwant\n  %+v", c, want[i])
			}
		}
	})
}

func TestNamesAreComparedByLetterCase(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 1)...)
		s.everywhere(t, "CREATE TABLE Orders (a INT PRIMARY KEY)", "CREATE TABLE orders (b INT PRIMARY KEY)")
		s.Tables[s.name("orders")] = catalog.Declaration{Kind: catalog.Global}
		if columns := s.table(t, "orders").Columns; len(columns) != 1 || columns[0].Name != "b" {
			t.Errorf("columns are %+v", columns)
		}
	})
}
