package cluster

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"locus/router"
	"locus/router/catalog"
)

func shop(name string) catalog.TableName { return catalog.TableName{Schema: "shop", Name: name} }

// named returns a cluster of two shards with the sharded tables a and b, and the global table c.
func named(t *testing.T) *Cluster {
	t.Helper()
	c, err := Parse([]byte(`
shards:
  s0: {address: a:1, user: u, secret: s}
  s1: {address: b:1, user: u, secret: s}
tables:
  shop.a: {kind: sharded, owner: x, id: {column: id, layout: int64}}
  shop.b: {kind: sharded, owner: y}
  shop.c: {kind: global}
  shop.one: {kind: single, shard: s0}
routes: [0xffff s0]
`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pairs(text string) (list []catalog.Rename) {
	for pair := range strings.SplitSeq(text, ", ") {
		from, to, _ := strings.Cut(pair, ">")
		list = append(list, catalog.Rename{From: shop(from), To: shop(to)})
	}
	return list
}

// begun returns a cluster with renames in progress.
func begun(t *testing.T, c *Cluster, list []catalog.Rename) *Cluster {
	t.Helper()
	next, resumed, err := c.BeginRename(list)
	if err != nil || resumed {
		t.Fatalf("%v, resumed %t", err, resumed)
	}
	return next
}

func TestARenameGoesThroughBothNames(t *testing.T) {
	c, list := named(t), pairs("a>z")
	during := begun(t, c, list)
	if !reflect.DeepEqual(during.Tables[shop("a")], during.Tables[shop("z")]) || len(c.Tables) != 4 {
		t.Errorf("declared are %v, and were %v", during.Tables, c.Tables)
	}
	if again, resumed, err := during.BeginRename(list); err != nil || !resumed || again != during {
		t.Errorf("begun again: %t, %v", resumed, err)
	}
	after, err := during.EndRename(list)
	if err != nil {
		t.Fatal(err)
	}
	if _, is := after.Tables[shop("a")]; is || after.Tables[shop("z")].Owner != "x" || after.RenamesWith(shop("z")) != nil || after.CountersOf(shop("z")) != shop("a") {
		t.Errorf("declared are %v, counters %v", after.Tables, after.Counters)
	}
	back, err := during.UndoRename(list)
	if err != nil || !reflect.DeepEqual(back.Tables, c.Tables) || len(back.Renaming)+len(back.Counters) > 0 {
		t.Errorf("taken back: %+v, %v", back, err)
	}
	for name, end := range map[string]func([]catalog.Rename) (*Cluster, error){"ended": after.EndRename, "undone": after.UndoRename} {
		if same, err := end(list); err != nil || same != after {
			t.Errorf("%s again: %v", name, err)
		}
	}
}

// A table keeps the counters of its first name, whatever it is renamed to.
func TestCountersStayWithTheTable(t *testing.T) {
	c := named(t)
	for _, text := range []string{"a>z", "z>y", "b>z", "y>b"} {
		during := begun(t, c, pairs(text))
		for _, r := range pairs(text) {
			if during.CountersOf(r.From) != c.CountersOf(r.From) {
				t.Errorf("%s: the counters of %s are %s meanwhile", text, r.From, during.CountersOf(r.From))
			}
		}
		var err error
		if c, err = during.EndRename(pairs(text)); err != nil {
			t.Fatal(err)
		}
	}
	if c.CountersOf(shop("b")) != shop("a") || c.CountersOf(shop("z")) != shop("b") {
		t.Errorf("counters are %v", c.Counters)
	}
	during := begun(t, c, pairs("b>a, z>b"))
	c, err := during.EndRename(pairs("b>a, z>b"))
	if err != nil || c.CountersOf(shop("a")) != shop("a") || c.CountersOf(shop("b")) != shop("b") {
		t.Errorf("counters are %v, %v", c.Counters, err)
	}
}

func TestOneTableTakesAnothersName(t *testing.T) {
	c, list := named(t), pairs("a>old, b>a")
	during := begun(t, c, list)
	if got := during.RenamesWith(shop("b")); !reflect.DeepEqual(got, list) {
		t.Errorf("renames are %v", got)
	}
	for _, part := range []string{"a>old", "b>a"} {
		if _, _, err := during.BeginRename(pairs(part)); !errors.As(err, new(*catalog.RenamingError)) {
			t.Errorf("%s alone: %v", part, err)
		}
	}
	after, err := during.EndRename(list)
	if err != nil || after.Tables[shop("a")].Owner != "y" || after.Tables[shop("old")].Owner != "x" || after.CountersOf(shop("a")) != shop("b") {
		t.Errorf("declared are %v, counters %v, %v", after.Tables, after.Counters, err)
	}
	back, err := during.UndoRename(list)
	if err != nil || !reflect.DeepEqual(back.Tables, c.Tables) {
		t.Errorf("taken back: %v, %v", back.Tables, err)
	}
}

func TestRenamesThatDoNotBegin(t *testing.T) {
	c := begun(t, named(t), pairs("c>d"))
	for text, want := range map[string]string{
		"a>b": "declared already", "one>two": "neither", "nothing>two": "neither", "d>e": "being renamed", "a>c": "being renamed", "c>e": "being renamed",
		"c>d, a>z": "others of these tables",
	} {
		if _, _, err := c.BeginRename(pairs(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestNothingElseChangesMeanwhile(t *testing.T) {
	old := begun(t, named(t), pairs("a>z"))
	file := func(change func(c *Cluster)) error {
		next := named(t)
		next.Tables[shop("z")] = next.Tables[shop("a")]
		change(next)
		after, err := Succeed(old, next, router.Stamp{})
		if err == nil && (!maps.Equal(after.Renaming, old.Renaming) || !maps.Equal(after.Counters, old.Counters)) {
			t.Errorf("a file changes names: %v, %v", after.Renaming, after.Counters)
		}
		return err
	}
	for name, test := range map[string]struct {
		change func(c *Cluster)
		want   string
	}{
		"nothing":           {func(*Cluster) {}, ""},
		"another table":     {func(c *Cluster) { delete(c.Tables, shop("b")) }, ""},
		"the former name":   {func(c *Cluster) { delete(c.Tables, shop("a")) }, "shop.a is being renamed"},
		"the new name":      {func(c *Cluster) { delete(c.Tables, shop("z")) }, "shop.z is being renamed"},
		"another declaring": {func(c *Cluster) { c.Tables[shop("a")] = catalog.Declaration{Kind: catalog.Global} }, "can't be changed"},
		"a further shard":   {func(c *Cluster) { c.Shards["s2"] = Shard{Address: "c:1", User: "u", Secret: "s", TLS: TLSOff} }, "shards can't be changed"},
	} {
		if err := file(test.change); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, end := range []func([]catalog.Rename) (*Cluster, error){old.EndRename, old.UndoRename} {
		next, err := end(pairs("a>z"))
		if err != nil {
			t.Fatal(err)
		}
		after, err := Succeed(old, next, router.Stamp{})
		if err != nil || after.Routes.Version() != old.Routes.Version()+1 {
			t.Errorf("the rename's own end: %v", err)
		}
	}
}

func TestNamesAreDocuments(t *testing.T) {
	c, err := begun(t, named(t), pairs("a>z")).EndRename(pairs("a>z"))
	if err != nil {
		t.Fatal(err)
	}
	c = begun(t, c, pairs("b>y"))
	got, err := Decode(Encode(c))
	if err != nil || !maps.Equal(got.Renaming, c.Renaming) || !maps.Equal(got.Counters, c.Counters) {
		t.Errorf("read are %v and %v, %v", got.Renaming, got.Counters, err)
	}
	documents := Encode(c)
	documents[RenamingKey(shop("y"))] = []byte("schema: 1\nfrom: y\n")
	if err := unusable(t, documents); err == nil {
		t.Error("no name of a table, and no error")
	}
}
