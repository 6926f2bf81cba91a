package catalog

import (
	"strings"
	"testing"

	"locus/router"
)

// foreignWorld returns a catalog of two shards. The shards in on have one foreign key.
func foreignWorld(t *testing.T, f ForeignKey, on ...router.ShardName) *Catalog {
	t.Helper()
	columns := []Column{{Name: "id", DataType: "bigint"}, {Name: "order_id", DataType: "bigint"}, {Name: "owner", DataType: "bigint"}, {Name: "x", DataType: "bigint"}}
	var tables []*Table
	for name, d := range map[string]Declaration{
		"orders": {Kind: Sharded, Owner: "owner", ID: &IDColumn{Column: "id", Layout: "int64"}},
		"items":  {Kind: Sharded, Parent: &IDColumn{Column: "order_id", Layout: "int64"}, ID: &IDColumn{Column: "id", Layout: "int64"}},
		"goods":  {Kind: Global}, "kinds": {Kind: Global},
		"setting": {Kind: Single, Shard: "s0"},
	} {
		table, err := Resolve(TableName{"shop", name}, d, columns, 16)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
	}
	shards := []router.ShardName{"s0", "s1"}
	listings := map[router.ShardName]*Listing{}
	for _, shard := range shards {
		l := &Listing{}
		for _, name := range []string{"orders", "items", "goods", "kinds", "setting", "plain", "note"} {
			if single := name == "setting" || name == "plain" || name == "note"; single && shard != "s0" {
				continue
			}
			l.Tables = append(l.Tables, ListedTable{TableName: TableName{"shop", name}, Type: "BASE TABLE"})
		}
		l.Tables = append(l.Tables, ListedTable{TableName: TableName{"shop", "v"}, Type: "VIEW", Query: "select `shop`.`plain`.`id` from `shop`.`plain`"})
		l.Programs = append(l.Programs, Program{TableName: TableName{"shop", "p"}, Type: "PROCEDURE", Body: "DELETE FROM plain"})
		for _, with := range on {
			if with == shard {
				l.ForeignKeys = append(l.ForeignKeys, f)
			}
		}
		listings[shard] = l
	}
	return NewListed(shards, tables, nil, listings)
}

func foreignKey(child, column, parent, referred, onDelete, onUpdate string) ForeignKey {
	return ForeignKey{
		TableName: TableName{"shop", child}, Name: "fk", Columns: []string{column},
		References: TableName{"shop", parent}, Referred: []string{referred}, OnDelete: onDelete, OnUpdate: onUpdate,
	}
}

// A foreign key has the same effect as on a single server, or its two tables can't be written.
func TestForeignKeysThatAreTornApart(t *testing.T) {
	both := []router.ShardName{"s0", "s1"}
	one := both[:1]
	const no = "NO ACTION"
	for _, c := range []struct {
		key  ForeignKey
		on   []router.ShardName
		torn bool
	}{
		{foreignKey("items", "order_id", "orders", "id", "CASCADE", no), both, false},
		{foreignKey("items", "ORDER_ID", "orders", "ID", no, "RESTRICT"), both, false},
		{foreignKey("items", "order_id", "orders", "id", no, "CASCADE"), both, false},
		{foreignKey("items", "order_id", "orders", "id", no, "SET NULL"), both, true},
		{foreignKey("items", "order_id", "orders", "id", "SET NULL", no), both, true},
		{foreignKey("items", "id", "orders", "x", no, "CASCADE"), both, true},
		{foreignKey("items", "id", "goods", "id", no, "CASCADE"), both, true},
		{foreignKey("items", "order_id", "orders", "id", no, no), one, true},
		{foreignKey("items", "order_id", "orders", "owner", no, no), both, true},
		{foreignKey("items", "x", "orders", "id", no, no), both, true},
		{foreignKey("items", "order_id", "orders", "x", "CASCADE", no), both, true},
		{foreignKey("items", "x", "goods", "id", "CASCADE", "CASCADE"), both, false},
		{foreignKey("items", "x", "goods", "id", "SET NULL", no), both, false},
		{foreignKey("items", "x", "goods", "id", no, no), one, true},
		{foreignKey("orders", "owner", "goods", "id", "CASCADE", no), both, false},
		{foreignKey("orders", "owner", "goods", "id", no, "CASCADE"), both, true},
		{foreignKey("orders", "owner", "goods", "id", "SET NULL", no), both, true},
		{foreignKey("orders", "x", "plain", "id", "CASCADE", no), one, true},
		{foreignKey("orders", "x", "setting", "id", no, no), one, true},
		{foreignKey("plain", "x", "orders", "id", "CASCADE", no), one, true},
		{foreignKey("setting", "x", "orders", "id", no, no), one, true},
		{foreignKey("plain", "x", "goods", "id", "CASCADE", no), one, false},
		{foreignKey("plain", "x", "setting", "id", "CASCADE", "CASCADE"), one, false},
		{foreignKey("plain", "x", "note", "id", "CASCADE", "CASCADE"), one, false},
		{foreignKey("goods", "x", "orders", "id", no, no), both, true},
		{foreignKey("goods", "x", "kinds", "id", "CASCADE", no), both, false},
		{foreignKey("goods", "x", "kinds", "id", "CASCADE", no), one, true},
		{foreignKey("goods", "x", "plain", "id", no, no), one, false},
		{foreignKey("goods", "x", "plain", "id", no, "CASCADE"), one, true},
		{foreignKey("items", "order_id", "later", "id", "CASCADE", no), both, false}, // a table that no shard has yet
		{foreignKey("goods", "x", "later", "id", no, "CASCADE"), both, false},
		{foreignKey("items", "order_id", "later", "id", no, no), one, true},
		{foreignKey("orders", "owner", "later", "id", no, "CASCADE"), both, true},
	} {
		catalog := foreignWorld(t, c.key, c.on...)
		what := c.key.says()
		for _, name := range []TableName{c.key.TableName, c.key.References} {
			err := catalog.Writing(name)
			if (err != nil) != c.torn {
				t.Errorf("%s on %s: to write %s: %v, want that refused: %v", what, c.on, name, err, c.torn)
			}
			if err != nil && !strings.Contains(err.Error(), "foreign key fk of table "+c.key.TableName.String()) {
				t.Errorf("%s: %v", what, err)
			}
			if catalog.Reading(name) != nil {
				t.Errorf("%s: to read %s is refused", what, name)
			}
		}
		if said := strings.Contains(joined(catalog.Remarks()), "foreign key fk"); said != c.torn {
			t.Errorf("%s: it is remarked: %v", what, said)
		}
	}
}

// Cascades of an intact foreign key count as writes to the table, and so do writes by a view or a procedure.
func TestForeignKeysAreFollowed(t *testing.T) {
	c := foreignWorld(t, foreignKey("plain", "x", "orders", "id", "CASCADE", "NO ACTION"), "s0")
	if c.Writing(TableName{"shop", "v"}) == nil || c.Reading(TableName{"shop", "v"}) != nil {
		t.Errorf("a view: %v, %v", c.Writing(TableName{"shop", "v"}), c.Reading(TableName{"shop", "v"}))
	}
	if c.CallError("shop", "", "p") == nil {
		t.Error("a procedure that writes it may be called")
	}
	l := c.closed.listings["s0"]
	l.ForeignKeys = append(l.ForeignKeys, foreignKey("plain", "x", "note", "id", "SET NULL", "NO ACTION"), foreignKey("setting", "x", "plain", "id", "CASCADE", "CASCADE"))
	next := NewListed(c.Shards, c.Tables(), nil, c.closed.listings)
	if next.Writing(TableName{"shop", "note"}) == nil {
		t.Error("a table may be written whose rows, as they are deleted, change those of one that may not")
	}
	if err := next.Writing(TableName{"shop", "setting"}); err != nil {
		t.Errorf("a table that refers to one that may not be written: %v", err)
	}
}

func joined(all []error) string {
	var b strings.Builder
	for _, err := range all {
		b.WriteString(err.Error() + "\n")
	}
	return b.String()
}
