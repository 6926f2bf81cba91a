package catalog

import (
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/stmt"
)

// indexedColumns are the columns of the indexed table of the tests.
func indexedColumns() []Column {
	return []Column{
		{Name: "id", DataType: "bigint"},
		{Name: "email", DataType: "varchar", Length: 60, Charset: "utf8mb4", Collation: "utf8mb4_general_ci", PadSpace: true, Nullable: true, DefaultsToNull: true},
		{Name: "town", DataType: "varchar", Length: 60, Charset: "utf8mb4", Collation: "utf8mb4_czech_ci"},
		OwnGeneColumn(),
	}
}

func entryColumns(value Column) []Column {
	value.Nullable, value.DefaultsToNull = false, false
	return []Column{value, {Name: LookupHash, DataType: "bigint", Unsigned: true}, {Name: LookupGene, DataType: "int", Unsigned: true}, OwnGeneColumn()}
}

// lookupCatalog returns a catalog with users and a look-up table for one of its columns.
func lookupCatalog(t *testing.T, column, words string, filled bool, change func(users, entries *Table)) *Catalog {
	t.Helper()
	columns := indexedColumns()
	users, err := Resolve(TableName{"shop", "users"}, Declaration{Kind: Sharded, Owner: "id"}, columns, gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	at, _ := users.Column(column)
	users = users.WithUnique([]UniqueKey{{Name: "PRIMARY", Columns: []int{0}}, {Name: "by_" + column, Columns: []int{at}}})
	d, err := ParseWords(words)
	if err != nil {
		t.Fatal(err)
	}
	d.Lookup.Filled = filled
	entries, err := Resolve(TableName{"shop", "entries"}, d, entryColumns(columns[at]), gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	entries = entries.WithUnique([]UniqueKey{{Name: "PRIMARY", Columns: []int{1, 0}}})
	if err := entries.CheckLookupKey(); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(users, entries)
	}
	return New([]router.ShardName{"s0", "s1"}, []*Table{users, entries}, nil)
}

func TestALookUpTableIsLinked(t *testing.T) {
	users := TableName{"shop", "users"}
	for name, test := range map[string]struct {
		column string
		filled bool
		change func(users, entries *Table)
		want   string // why it is not; empty: it is
	}{
		"filled":            {column: "email", filled: true},
		"not filled":        {column: "email", want: "-"},
		"without a key":     {column: "email", filled: true, change: func(users, _ *Table) { users.Unique = users.Unique[:1] }, want: "has no unique key of its own: ALTER TABLE shop.users ADD UNIQUE KEY (`email`)"},
		"of another type":   {column: "email", filled: true, change: func(_, entries *Table) { entries.Columns[0].Length = 50 }, want: "column email is VARCHAR(50) COLLATE utf8mb4_general_ci, and in table shop.users it is VARCHAR(60)"},
		"unknown weights":   {column: "town", want: "has the collation utf8mb4_czech_ci, whose weights locus doesn't know"},
		"a key of the rows": {column: "id", filled: true, want: "decides where a row of shop.users is"},
	} {
		c := lookupCatalog(t, test.column, "lookup=users."+test.column, test.filled, test.change)
		table, _ := c.Find(users)
		lookups, unindexed := c.Lookups(table), c.Unindexed(users)
		switch {
		case test.want == "" && (len(lookups) != 1 || lookups[0].Filled != test.filled || lookups[0].Key != "by_email" || unindexed != nil):
			t.Errorf("%s: %v, %v", name, lookups, c.UnfitLookup(TableName{"shop", "entries"}))
		case test.want == "":
		case test.want == "-": // the index fits, and is not maintained yet
			entries, _ := c.Find(TableName{"shop", "entries"})
			if len(lookups) > 0 || unindexed != nil || c.LookupOf(entries) == nil {
				t.Errorf("%s: %v, %v, %v", name, lookups, unindexed, c.LookupOf(entries))
			}
		case len(lookups) > 0 || !strings.Contains(c.UnfitLookup(TableName{"shop", "entries"}).Error(), test.want):
			t.Errorf("%s: %v, %v", name, lookups, c.UnfitLookup(TableName{"shop", "entries"}))
		case (unindexed != nil) != test.filled:
			t.Errorf("%s: writes to the indexed table: %v", name, unindexed)
		}
	}
}

// An index that is filled, or is being filled, and whose table no shard has, refuses writes. Another one doesn't.
func TestALostLookUpTable(t *testing.T) {
	for _, state := range []LookupOf{{}, {Kept: true}, {Kept: true, Filled: true}} {
		kept := state.Kept
		users, err := Resolve(TableName{"shop", "users"}, Declaration{Kind: Sharded, Owner: "id"}, indexedColumns(), gene.W16)
		if err != nil {
			t.Fatal(err)
		}
		d := Declaration{Kind: Sharded, Owner: LookupHash, Lookup: &LookupOf{Table: "users", Column: "email", Kept: state.Kept, Filled: state.Filled}}
		name := TableName{"shop", "entries"}
		c := New([]router.ShardName{"s0"}, []*Table{users}, map[TableName]error{name: &Misfit{Kind: Sharded, Declaration: d, Err: &MissingTableError{"s0"}}})
		if err := c.Unindexed(users.TableName); (err != nil) != kept {
			t.Errorf("%+v: %v", state, err)
		}
		if list := c.LookupsOn(users.TableName); len(list) != 1 || list[0] != name {
			t.Errorf("look-up tables: %v", list)
		}
	}
}

func TestWordsOfALookUpTable(t *testing.T) {
	d, err := ParseWords("lookup=users.email")
	if err != nil || d.Owner != LookupHash || d.Words() != "lookup=users.email" {
		t.Errorf("%+v, %q, %v", d, d.Words(), err)
	}
	filled := d
	filled.Lookup = &LookupOf{Table: "users", Column: "email", Filled: true}
	if !filled.Agrees(d) || d.Agrees(Declaration{Kind: Sharded, Lookup: &LookupOf{Table: "users", Column: "name"}}) {
		t.Error("a comment does not agree with what it declared, or agrees with another index")
	}
	for _, words := range []string{"lookup=users", "lookup=a.b.c", "lookup=users.row_gene", "lookup=users.email owner=id", "lookup=users.email version=v"} {
		if _, err := ParseWords(words); err == nil {
			t.Errorf("%s is accepted", words)
		}
	}
}

// A duplicate is reported under the name of the indexed table's key, without the hash.
func TestNameOfADuplicate(t *testing.T) {
	c := lookupCatalog(t, "email", "lookup=users.email", true, nil)
	table, _ := c.Find(TableName{"shop", "users"})
	l := &c.Lookups(table)[0]
	for message, want := range map[string]string{
		"Duplicate entry '123-ann@x' for key 'PRIMARY'":                                  "Duplicate entry 'ann@x' for key 'by_email'",
		"Duplicate entry '123-1-PRIMARY' for key 'entries.PRIMARY'":                      "Duplicate entry '1-PRIMARY' for key 'users.by_email'",
		"Duplicate entry '18446744073709551615-' for key 'PRIMARY'":                      "Duplicate entry '' for key 'by_email'",
		"Duplicate entry '12-" + strings.Repeat("y", 61) + "' for key 'entries.PRIMARY'": "Duplicate entry '" + strings.Repeat("y", 64) + "' for key 'users.by_email'",
		"Duplicate entry '12-" + strings.Repeat("y", 60) + "...' for key 'PRIMARY'":      "Duplicate entry '" + strings.Repeat("y", 63) + "...' for key 'by_email'",
		"Duplicate entry '123-" + strings.Repeat("y", 98) + "...' for key 'PRIMARY'":     "Duplicate entry '" + strings.Repeat("y", 100) + "' for key 'by_email'",
		"Duplicate entry 'x' for key 'other'":                                            "Duplicate entry 'x' for key 'other'",
		"Doppelter Eintrag '9-it's' für Schlüssel 'PRIMARY' vorhanden":                   "Doppelter Eintrag 'it's' für Schlüssel 'by_email' vorhanden",
	} {
		if got := l.NameDuplicate(message, []Entry{{Value: stmt.Value{Kind: stmt.String, Text: []byte(strings.Repeat("y", 100))}}}); got != want {
			t.Errorf("%s: %s", message, got)
		}
	}
}

// The entry of a row that another row has the value of stays when the row is deleted.
func TestEntriesAreDeletedByRow(t *testing.T) {
	c := lookupCatalog(t, "email", "lookup=users.email", true, nil)
	table, _ := c.Find(TableName{"shop", "users"})
	l := &c.Lookups(table)[0]
	e := Entry{Value: stmt.Value{Kind: stmt.String, Text: []byte("a")}, Hash: 5, Row: 7}
	want := "DELETE FROM `shop`.`entries` WHERE value_hash = 5 AND `email` = _utf8mb4 x'61' AND row_gene = 7 OR value_hash = 6 AND `email` = _utf8mb4 x'61' AND row_gene = 7"
	other := e
	other.Hash = 6
	if got := string(l.AppendDelete(nil, []Entry{e, other})); got != want {
		t.Errorf("%s", got)
	}
}

func TestIndexableValues(t *testing.T) {
	email := &indexedColumns()[1]
	text := func(s string) stmt.Value { return stmt.Value{Kind: stmt.String, Text: []byte(s)} }
	for _, v := range []stmt.Value{{Kind: stmt.Unknown}, {Kind: stmt.Default}, text(strings.Repeat("x", 61)), text("\xff"), stmt.FloatValue(1)} {
		if _, err := email.Indexable(v); err == nil {
			t.Errorf("%v is indexed", v)
		}
	}
	required := *email
	required.Nullable = false
	if _, err := required.Indexable(stmt.Value{Kind: stmt.Null}); err == nil {
		t.Error("NULL in a column that is NOT NULL is indexed, and servers may store another value")
	}
	latin := *email
	latin.Charset, latin.Collation = "latin1", "latin1_swedish_ci"
	if _, err := latin.Indexable(stmt.Value{Kind: stmt.Bytes, Text: []byte{0xc3, 0xa9}}); err == nil {
		t.Error("bytes in a column of latin1 are indexed as utf8mb4")
	}
	for _, v := range []string{"中", "š\u009a", "\u0080", "🙂"} {
		if _, err := latin.Indexable(text(v)); err == nil {
			t.Errorf("%q is indexed in a column of latin1, which stores another character", v)
		}
		if _, ok := latin.Sought(text(v)); ok {
			t.Errorf("%q is looked up in a column of latin1", v)
		}
	}
	if v, err := latin.Indexable(text("é€š\u0081ÿ")); err != nil || string(v.Text) != "é€š\u0081ÿ" {
		t.Errorf("characters of latin1: %q, %v", v.Text, err)
	}
	if v, err := email.Indexable(stmt.IntValue(7)); err != nil || v.Kind != stmt.String || string(v.Text) != "7" {
		t.Errorf("a number in a text column: %v, %v", v, err)
	}
	padded := *email
	padded.DataType, padded.Collation, padded.PadSpace = "char", "utf8mb4_0900_ai_ci", false
	if v, err := padded.Indexable(text("ann  ")); err != nil || string(v.Text) != "ann" {
		t.Errorf("a CHAR without its trailing spaces, which no server stores: %q, %v", v.Text, err)
	}
	if _, ok := email.Sought(stmt.IntValue(7)); ok {
		t.Error("a number that a text column is compared with is looked up, and servers compare both as doubles")
	}
	if normal, known := email.Normal(nil, text("Ann@X  ")); !known || string(normal) != "ann@x" {
		t.Errorf("the normal form is %q", normal)
	}
	if _, known := email.Normal(nil, text("änn")); known {
		t.Error("the weights of ä are not known")
	}
}

// Triggers that name the column, and foreign keys that act, make an index unfit, whether or not its filling has begun. Writes are refused only if it
// has to be kept.
func TestRowsThatChangeByThemselves(t *testing.T) {
	users, accounts, name := TableName{"shop", "users"}, TableName{"shop", "accounts"}, TableName{"shop", "entries"}
	key := foreignKey("users", "id", "accounts", "id", "CASCADE", "RESTRICT")
	harmless := foreignKey("users", "id", "accounts", "id", "RESTRICT", "NO ACTION")
	named := Program{TableName: TableName{"shop", "lower"}, Type: trigger, On: "users", Body: "SET NEW.Email = LOWER(NEW.email)"}
	other := Program{TableName: TableName{"shop", "towns"}, Type: trigger, On: "users", Body: "SET NEW.town = 'x'"}
	for what, test := range map[string]struct {
		listing Listing
		unfit   bool
		parent  bool
	}{
		"nothing":                 {},
		"a foreign key":           {listing: Listing{ForeignKeys: []ForeignKey{key}}, unfit: true, parent: true},
		"a foreign key at rest":   {listing: Listing{ForeignKeys: []ForeignKey{harmless}}},
		"a trigger":               {listing: Listing{Programs: []Program{named}}, unfit: true},
		"a trigger of the others": {listing: Listing{Programs: []Program{other}}},
	} {
		for _, kept := range []bool{true, false} {
			first := lookupCatalog(t, "email", "lookup=users.email", kept, nil)
			listing := test.listing
			c := NewListed(first.Shards, first.Tables(), nil, map[router.ShardName]*Listing{"s1": &listing})
			if got := c.UnfitLookup(name) != nil; got != test.unfit {
				t.Errorf("%s, kept %v: unfit is %v", what, kept, got)
			}
			if got := c.Unindexed(users) != nil; got != (test.unfit && kept) {
				t.Errorf("%s, kept %v: writes are refused: %v", what, kept, got)
			}
			if got := c.Unindexed(accounts) != nil; got != (test.parent && kept) {
				t.Errorf("%s, kept %v: writes to the other table are refused: %v", what, kept, got)
			}
		}
	}
}
