//go:build servers

package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/router/catalog"
)

const testOrder = `CREATE TABLE test_order (
	order_id BIGINT NOT NULL PRIMARY KEY, order_no BIGINT NOT NULL, buyer_uid BIGINT NOT NULL,
	amount DECIMAL(12,2) NOT NULL, status VARCHAR(16) NOT NULL DEFAULT 'new', version BIGINT NOT NULL DEFAULT 0,
	KEY (order_no), KEY (buyer_uid))`

var orders = catalog.Declaration{
	Kind: catalog.Sharded, Owner: "buyer_uid", ID: &catalog.IDColumn{Column: "order_id", Layout: "int64"},
	OrderNumber: "order_no", Version: "version",
}

func TestLoadResolvesWhatFits(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 2)...)
		s.everywhere(t, testOrder, "CREATE TABLE product (product_id INT PRIMARY KEY)")
		s.on(t, 1, "CREATE TABLE setting (name VARCHAR(9) PRIMARY KEY)", "CREATE VIEW names AS SELECT name FROM setting")
		s.Tables[s.name("test_order")] = orders
		s.Tables[s.name("product")] = catalog.Declaration{Kind: catalog.Global}
		s.Tables[s.name("setting")] = catalog.Declaration{Kind: catalog.Single, Shard: "s1"}
		s.Tables[s.name("names")] = catalog.Declaration{Kind: catalog.Single, Shard: "s1"}
		s.Settings.DefaultShard = "s1"
		l := s.load(t)
		if err := l.Problems(); err != nil {
			t.Error(err)
		}
		if l.Warnings != nil {
			t.Errorf("warnings %v", l.Warnings)
		}
		if got := fmt.Sprint(l.Catalog.Shards); got != "[s1 s0]" {
			t.Errorf("the default shard doesn't come first: %s", got)
		}
		order := s.table(t, "test_order")
		if len(order.Keys) != 3 || order.Root().Column.Name != "buyer_uid" || order.Layout.Name() != "int64" {
			t.Errorf("keys of test_order are %+v", order.Keys)
		}
	})
}

func TestLoadSaysWhatDiffers(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 3)...)
		s.everywhere(t, testOrder,
			"CREATE TABLE collated (id INT PRIMARY KEY, name VARCHAR(9) COLLATE utf8mb4_bin)",
			"CREATE TABLE ordered (id INT PRIMARY KEY, a INT, b INT)",
			"CREATE TABLE wrong (id INT AUTO_INCREMENT PRIMARY KEY, buyer VARCHAR(9) COLLATE utf8mb4_general_ci)",
			"CREATE VIEW seen AS SELECT id FROM ordered")
		s.on(t, 0, "CREATE TABLE product (id INT PRIMARY KEY)")
		s.on(t, 1, "ALTER TABLE collated MODIFY name VARCHAR(9) COLLATE utf8mb4_general_ci", "ALTER TABLE ordered MODIFY a INT AFTER b")
		s.on(t, 2, "ALTER TABLE test_order MODIFY amount DECIMAL(10,2) NULL, DROP status, ADD note TEXT")
		for name, d := range map[string]catalog.Declaration{
			"test_order": orders, "product": {Kind: catalog.Global}, "collated": {Kind: catalog.Global},
			"ordered": {Kind: catalog.Global}, "seen": {Kind: catalog.Global}, "absent": {Kind: catalog.Single, Shard: "s1"},
			"wrong": {Kind: catalog.Sharded, Owner: "buyer", ID: &catalog.IDColumn{Column: "id", Layout: "int64"}},
		} {
			s.Tables[s.name(name)] = d
		}
		problems := s.load(t).Problems()
		if problems == nil {
			t.Fatal("no problems")
		}
		got := strings.ReplaceAll(problems.Error(), s.database+".", "")
		want := `table absent: it doesn't exist on s1: create it there first
table collated: column name: it is varchar(9) COLLATE utf8mb4_bin on s0 and varchar(9) COLLATE utf8mb4_general_ci on s1: ALTER TABLE collated MODIFY it so that both agree
table ordered: the order of columns is (id, a, b) on s0 and (id, b, a) on s1: an INSERT without a column list would mix them up: ALTER TABLE ordered MODIFY … AFTER …
table product: it doesn't exist on s1, s2: create it there as SHOW CREATE TABLE product gives it on s0
table seen: it is a VIEW, which can't be global: declare the tables that it reads
table test_order: column amount: it is decimal(12,2) NOT NULL without default on s0 and decimal(10,2) NULL with a default on s2: ALTER TABLE test_order MODIFY it so that both agree
table test_order: column status: s0 has it and s2 does not: add it on s2, or drop it everywhere
table test_order: column note: s2 has it and s0 does not: add it on s0, or drop it everywhere`
		got, resolved, _ := strings.Cut(got, "\ntable wrong: ")
		if got != want {
			t.Errorf("problems are\n%s\nand not\n%s", got, want)
		}
		// If a table is equal on all shards, the catalog reports its problems.
		for _, column := range []string{"buyer", "id"} {
			if !strings.Contains(resolved, "column "+column+": ") {
				t.Errorf("column %s is missing in %s", column, resolved)
			}
		}
	})
}

// A table is served if its copies differ only by columns that a row may omit. The columns that all copies show are used.
func TestLoadLevelsColumns(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 3)...)
		s.everywhere(t, testOrder,
			"CREATE TABLE country (code INT PRIMARY KEY, name VARCHAR(9), UNIQUE KEY (name))",
			"CREATE TABLE must (id INT PRIMARY KEY, a INT)", "CREATE TABLE counted (id INT PRIMARY KEY, a INT)")
		s.on(t, 0, "ALTER TABLE country ADD since DATETIME DEFAULT CURRENT_TIMESTAMP FIRST, ADD UNIQUE KEY (name, since)", "ALTER TABLE counted ADD n INT NOT NULL AUTO_INCREMENT UNIQUE")
		s.on(t, 1, "ALTER TABLE test_order ADD note VARCHAR(9) NOT NULL DEFAULT 'x' AFTER order_id, ADD later INT INVISIBLE")
		s.on(t, 2, "ALTER TABLE test_order ADD note VARCHAR(9) NOT NULL DEFAULT 'x' INVISIBLE AFTER order_id", "ALTER TABLE must ADD b INT NOT NULL", "CREATE TABLE fresh (id INT PRIMARY KEY, a INT, b CHAR(36) DEFAULT (UUID()))")
		s.on(t, 0, "CREATE TABLE fresh (id INT PRIMARY KEY, a INT)")
		s.on(t, 1, "CREATE TABLE fresh (id INT PRIMARY KEY, a INT)")
		s.on(t, 0, "ALTER TABLE test_order ADD note VARCHAR(9) NOT NULL DEFAULT 'x' AFTER order_id")
		for name, d := range map[string]catalog.Declaration{
			"test_order": orders, "country": {Kind: catalog.Global}, "must": {Kind: catalog.Global}, "fresh": {Kind: catalog.Global}, "counted": {Kind: catalog.Global},
		} {
			s.Tables[s.name(name)] = d
		}
		l := s.load(t)
		got := strings.ReplaceAll(l.Problems().Error(), s.database+".", "")
		want := `table counted: column n: s0 has it and s1 does not: add it on s1, or drop it everywhere
table counted: column n: s0 has it and s2 does not: add it on s2, or drop it everywhere
table fresh: column b: s2 has it and s0 does not: add it on s0, or drop it everywhere
table must: column b: s2 has it and s0 does not: add it on s0, or drop it everywhere`
		if got != want {
			t.Errorf("problems are\n%s\nand not\n%s", got, want)
		}
		order, country := s.table(t, "test_order"), s.table(t, "country")
		if at, ok := order.Column("note"); !ok || !order.Columns[at].Invisible || order.ShowsAlike() || fmt.Sprint(order.Uneven.Hidden) != "[note]" || len(order.Uneven.Partial) != 1 || order.Uneven.Partial[0].Name != "later" {
			t.Errorf("test_order has %+v, and not on all shards %+v", order.Columns, order.Uneven)
		}
		if _, has := country.Column("since"); has || !country.ReadsClock() || len(country.Uneven.Partial) != 1 {
			t.Errorf("country has %+v, and not on all shards %+v", country.Columns, country.Uneven)
		}
		for _, u := range country.Unique {
			if len(u.Columns) == 1 && u.Partial != (u.Name == "name_2") {
				t.Errorf("a unique key of a column that only one shard has: %+v", u)
			}
		}
		warned := strings.ReplaceAll(fmt.Sprint(l.Warnings), s.database+".", "")
		for _, text := range []string{
			"table country: column since is on s0 and not on s1, s2: until all have it", "table test_order: column later is on s1 and not on s0, s2: ", "table test_order: column note is invisible on s2 alone: ",
		} {
			if !strings.Contains(warned, text) {
				t.Errorf("nobody is warned that %s, but: %s", text, warned)
			}
		}
	})
}

func TestLoadComparesEnginesByMeaning(t *testing.T) {
	mixed := append(servers.Shared(t, servers.MariaDB, 1), servers.Shared(t, servers.MySQL, 1)...)
	s := open(t, mixed...)
	s.everywhere(t, testOrder+" DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_general_ci")
	s.Tables[s.name("test_order")] = orders
	if err := s.load(t).Problems(); err != nil {
		t.Error(err)
	}
}

func TestLoadWarns(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 1)...)
		s.everywhere(t, "CREATE TABLE heap (order_id BIGINT NOT NULL, item INT, KEY (item, order_id)) ENGINE=MyISAM")
		s.Tables[s.name("heap")] = catalog.Declaration{Kind: catalog.Sharded, Parent: &catalog.IDColumn{Column: "order_id", Layout: "int64"}}
		l := s.load(t)
		if err := l.Problems(); err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(errors.Join(l.Warnings...).Error(), s.database+".", "")
		want := `table heap on s0: its engine is MyISAM, which can't roll back: ALTER TABLE heap ENGINE=InnoDB
table heap on s0: it has no primary key, and no unique key of whole NOT NULL columns, so its rows can't be moved or compared: add one
table heap on s0: no index begins with order_id, so to find the rows of a gene is to read all: ALTER TABLE heap ADD INDEX (order_id)`
		if got != want {
			t.Errorf("warnings are\n%s\nand not\n%s", got, want)
		}
	})
}

// A unique key identifies rows if none of its columns may be NULL.
func TestLoadWarnsOfRowsThatNothingTellsApart(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for keys, warns := range map[string]bool{
			"UNIQUE KEY (order_id)": false, "UNIQUE KEY (item, order_id)": true, "UNIQUE KEY (label(3))": true,
			"UNIQUE KEY (item), UNIQUE KEY (order_id, label)": false, "KEY (order_id)": true, "PRIMARY KEY (order_id)": false,
		} {
			s := open(t, servers.Shared(t, engine, 1)...)
			s.everywhere(t, "CREATE TABLE heap (order_id BIGINT NOT NULL, item INT, label VARCHAR(10) NOT NULL, KEY at (order_id), "+keys+")")
			s.Tables[s.name("heap")] = catalog.Declaration{Kind: catalog.Sharded, Parent: &catalog.IDColumn{Column: "order_id", Layout: "int64"}}
			l := s.load(t)
			if got := strings.Contains(fmt.Sprint(l.Warnings), "no primary key"); got != warns || l.Problems() != nil {
				t.Errorf("%s: %v (%v)", keys, l.Warnings, l.Problems())
			}
		}
	})
}

// away is a shard that doesn't answer.
type away struct{}

func (away) Query(context.Context, string) ([][][]byte, error) {
	return nil, errors.New("connection refused")
}

func TestLoadNamesTheShardThatCannotBeAsked(t *testing.T) {
	s := open(t, servers.Shared(t, servers.MariaDB, 1)...)
	s.queriers["s7"], s.queriers["s8"] = away{}, away{}
	_, err := Load(t.Context(), s.queriers, s.Cluster)
	want := "read the schema of shard s7: connection refused\nread the schema of shard s8: connection refused"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v", err)
	}
}

func TestLoadWithoutAShard(t *testing.T) {
	s := open(t, servers.Shared(t, servers.MariaDB, 1)...)
	s.everywhere(t, "CREATE TABLE product (id INT PRIMARY KEY)")
	s.Tables[s.name("product")] = catalog.Declaration{Kind: catalog.Global}
	s.Tables[s.name("setting")] = catalog.Declaration{Kind: catalog.Single, Shard: "s1"}
	l := s.load(t)
	want := "table " + s.name("setting").String() + ": its shard s1 can't be reached, so its columns are unknown"
	if err := l.Problems(); err == nil || err.Error() != want {
		t.Errorf("problems are %v", err)
	}
	if len(l.Catalog.Tables()) != 1 {
		t.Errorf("tables that fit: %v", l.Catalog.Tables())
	}
}

// A single table of an unreachable shard keeps its columns, unless it is declared in another way.
func TestASingleTableOfAShardThatIsAwayStaysWhatItWas(t *testing.T) {
	s := open(t, servers.Shared(t, servers.MariaDB, 2)...)
	s.on(t, 1, "CREATE TABLE setting (name VARCHAR(64) PRIMARY KEY)")
	name := s.name("setting")
	s.Tables[name] = catalog.Declaration{Kind: catalog.Single, Shard: "s1"}
	before := s.load(t).Catalog
	delete(s.queriers, "s1")
	again := func() *Loaded {
		f, err := Find(t.Context(), s.queriers, s.Cluster, before)
		if err != nil {
			t.Fatal(err)
		}
		return f.Load()
	}
	was, _ := before.Find(name)
	if got, err := again().Catalog.Find(name); err != nil || got != was {
		t.Errorf("it is %v, %v", got, err)
	}
	s.Tables[name] = catalog.Declaration{Kind: catalog.Single, Shard: "s1", Version: "name"}
	if again().Problems() == nil {
		t.Error("a declaration that was never held to its table is taken for granted")
	}
}

// Found.Same is true while no definition is made, and false afterwards.
func TestFoundIsTheSameUntilSomethingChanges(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Shared(t, engine, 2)...)
		for i := range 2 {
			s.on(t, i, "CREATE TABLE setting (name VARCHAR(64) PRIMARY KEY)")
		}
		s.Tables[s.name("setting")] = catalog.Declaration{Kind: catalog.Global}
		for _, change := range []string{
			"", "ALTER TABLE setting ADD value VARCHAR(64)", "", "ALTER TABLE setting ADD UNIQUE (value)", "CREATE TABLE plain (id INT)",
			"CREATE VIEW seen AS SELECT name FROM setting", "ALTER VIEW seen AS SELECT value FROM setting", "",
			"CREATE PROCEDURE p() SELECT 1", "DROP PROCEDURE p", "CREATE TRIGGER t BEFORE INSERT ON plain FOR EACH ROW SET @x = 1", "DROP TABLE plain", "",
		} {
			before := s.load(t).Catalog
			if change != "" {
				for i := range 2 {
					s.on(t, i, change)
				}
			}
			found, err := Find(t.Context(), s.queriers, s.Cluster, before)
			if err != nil {
				t.Fatal(err)
			}
			if same := found.Same(before); same != (change == "") {
				t.Errorf("after %q: same is %v", change, same)
			}
		}
	})
}

// A table that fitted its declaration and no longer does may be the object of a running definition. One that no shard has any more, or that
// did not fit before, is not.
func TestUnfits(t *testing.T) {
	s := open(t, servers.Shared(t, servers.MariaDB, 2)...)
	s.everywhere(t, testOrder, "CREATE TABLE product (product_id INT PRIMARY KEY)")
	s.Tables[s.name("test_order")] = orders
	s.Tables[s.name("product")] = catalog.Declaration{Kind: catalog.Global}
	before := s.load(t).Catalog
	find := func() *Found {
		t.Helper()
		found, err := Find(t.Context(), s.queriers, s.Cluster, before)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if find().Unfits(before) {
		t.Error("all fit")
	}
	s.everywhere(t, "DROP TABLE product")
	if find().Unfits(before) {
		t.Error("one is nowhere")
	}
	s.on(t, 1, "ALTER TABLE test_order DROP amount")
	if !find().Unfits(before) {
		t.Error("one lacks a column on a shard")
	}
	if find().Unfits(s.load(t).Catalog) {
		t.Error("it lacked the column before")
	}
}
