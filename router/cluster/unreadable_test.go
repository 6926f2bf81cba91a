package cluster

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/scale"
	"locus/router"
	"locus/router/catalog"
)

// garbage returns values that no decoder accepts.
func garbage() map[string]string {
	return map[string]string{
		"empty": "", "bytes": "\x00\xff\xfe\x01", "list": "[]", "null": "null", "number": "42", "text": "\"text\"", "newer": "schema: 99\nnew: field\n",
		"wrong types": "schema: {}\nkind: []\naddress: 7\n", "truncated": "schema: 1\nkind: \"shar", "huge": strings.Repeat("x", 1<<16), "deep": strings.Repeat("[", 1<<11),
		"bomb": "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n", "two": "schema: 1\n---\nschema: 1\n", "json": `{"schema":`,
	}
}

const whole = `
shards:
  s0: {address: a:1, user: u, secret: s}
  s1: {servers: [b:1, b:2], user: u, secret: s, admin: {user: a, secret: s}}
  s2: {address: c:1, user: u, secret: s}
tables:
  shop.orders: {kind: sharded, owner: buyer, id: {column: id, layout: int64}, stamped: {slip: g}}
  shop.items: {kind: sharded, owner: buyer}
  shop.country: {kind: global}
  shop.one: {kind: single, shard: s2}
users:
  app: {secret: s}
  other: {secret: s}
generators:
  g: {kind: segment}
  f: {kind: format, of: [g], template: "X-{seq}"}
  h: {kind: segment}
routes: [0x7fff s0, 0xffff s1]
`

func wholeCluster(t *testing.T) *Cluster {
	t.Helper()
	next, err := Parse([]byte(strings.ReplaceAll(whole, "  f: {kind: format, of: [g], template: \"X-{seq}\"}\n", "")))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Succeed(nil, next, router.Stamp{By: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// planted returns keys to which another program could write. Each has a check of what must still work if its value can't be read.
func planted() map[string]func(*Cluster) bool {
	orders, items := catalog.TableName{Schema: "shop", Name: "orders"}, catalog.TableName{Schema: "shop", Name: "items"}
	has := func(c *Cluster, name catalog.TableName) bool {
		_, is := c.Tables[name]
		return is && c.Refused[name] == ""
	}
	reached := func(c *Cluster, name router.ShardName) bool {
		return c.Shards[name].Address != "" && c.Shards[name].Unreadable == ""
	}
	all := func(c *Cluster) bool {
		_, app := c.Users["app"]
		return has(c, orders) && has(c, items) && app && reached(c, "s0") && reached(c, "s1") && reached(c, "s2") && c.Unrouted == "" && len(c.Shards) == 3
	}
	return map[string]func(*Cluster) bool{
		"tables/shop.x y": all, "tables/": all, "tables/x": all, "tables/shop.new": all, "tables/`a.b`.`c": all, "tables/\x00\xff": all, "tables/SHOP.orders": all,
		"users/": all, "users/new": all, "users/a b": all, "shards/": all, "shards/s9": all, "shards/a b": all, "primaries/s9": all, "primaries/": all, "primaries/s0": all,
		"generators/": all, "generators/new": all, "generators/a b": all, "renaming/": all, "renaming/shop.new": all, "renaming/x": all, "counters/shop.new": all, "counters/x y": all,
		"things/x": all, "x": all, "": all, "/": all, "settings/x": all, "map/x": all, "mapx": all,
		"users/app":           func(c *Cluster) bool { _, app := c.Users["app"]; return !app && len(c.Users) == 1 && has(c, orders) },
		"tables/shop.items":   func(c *Cluster) bool { return !has(c, items) && c.Refused[items] != "" && has(c, orders) },
		"counters/shop.items": func(c *Cluster) bool { return c.Refused[items] != "" && !has(c, items) && has(c, orders) },
		"renaming/shop.items": func(c *Cluster) bool { return c.Refused[items] != "" && !has(c, items) && has(c, orders) },
		"generators/g":        func(c *Cluster) bool { return c.Refused[orders] != "" && !has(c, orders) && has(c, items) },
		"generators/h":        func(c *Cluster) bool { return has(c, orders) && has(c, items) && len(c.Generators) == 1 },
		"shards/s0": func(c *Cluster) bool {
			return c.Shards["s0"].Unreadable != "" && reached(c, "s1") && reached(c, "s2") && has(c, orders)
		},
		"shards/s1": func(c *Cluster) bool {
			return c.Shards["s1"].Unreadable != "" && reached(c, "s0") && reached(c, "s2") && has(c, orders)
		},
		"shards/s2": func(c *Cluster) bool {
			return c.Shards["s2"].Unreadable != "" && reached(c, "s0") && reached(c, "s1") && has(c, orders)
		},
		"primaries/s1": func(c *Cluster) bool {
			return c.Shards["s1"].Unreadable != "" && c.Shards["s1"].Address == "" && reached(c, "s0")
		},
		SettingsKey: func(c *Cluster) bool { return c.Unrouted != "" && !reached(c, c.Settings.DefaultShard) },
		MapKey: func(c *Cluster) bool {
			return c.Unrouted != "" && reached(c, c.Settings.DefaultShard) && !reached(c, c.Routes.Shards()[0])
		},
	}
}

func TestUnreadableDocumentsStopNothingElse(t *testing.T) {
	documents := Encode(wholeCluster(t))
	kinds := garbage()
	maps.DeleteFunc(kinds, func(what, _ string) bool {
		return scale.Quick(!slices.Contains([]string{"bytes", "newer", "wrong types", "truncated"}, what), false)
	})
	for key, goesOn := range planted() {
		for what, value := range kinds {
			with := maps.Clone(documents)
			with[key] = []byte(value)
			c, err := Decode(with)
			if err != nil {
				t.Errorf("%q with %s: %v", key, what, err)
				continue
			}
			if c.Unreadable[key].Why == "" {
				t.Errorf("%q with %s is not reported", key, what)
			}
			if !goesOn(c) {
				t.Errorf("%q with %s: %+v, refused %v", key, what, c.Unreadable, c.Refused)
			}
			for name, why := range c.Refused {
				if !strings.Contains(why, "declared/") || strings.Contains(why, "\n") {
					t.Errorf("%q with %s: table %s: %q", key, what, name, why)
				}
			}
			keepsDocuments(t, key+" with "+what, with, c)
		}
	}
}

// keepsDocuments changes another part of a cluster, and checks that every other document stays the same.
func keepsDocuments(t *testing.T, what string, documents map[string][]byte, c *Cluster) {
	t.Helper()
	next := *c
	next.Users = maps.Clone(c.Users)
	next.Users["another"] = User{Secret: "s"}
	after, err := Succeed(c, &next, router.Stamp{})
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	stored := map[string]Stored{}
	for key, value := range documents {
		stored[key] = Stored{value, 5}
	}
	w := PlanWrite(stored, after)
	if err := w.ReadBack(new(Decoder), stored, after); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if len(w.Deletes) > 0 {
		t.Errorf("%s: %v are deleted", what, w.Deletes)
	}
	for key, value := range w.Puts {
		if before, there := documents[strings.TrimPrefix(key, Prefix)]; there && !bytes.Equal(before, value) {
			t.Errorf("%s: %s is changed", what, key)
		}
	}
	if w.Puts[Prefix+UserKey("another")] == nil {
		t.Errorf("%s: the change is lost", what)
	}
}

// Ten documents are unreadable at the same time, and all others change.
func TestTenUnreadableDocuments(t *testing.T) {
	documents := Encode(wholeCluster(t))
	values := slices.Sorted(maps.Values(garbage()))
	i := 0
	for key, goesOn := range planted() {
		if _, real := documents[key]; !real && !slices.Contains([]string{"counters/shop.items", "renaming/shop.items"}, key) {
			documents[key] = []byte(values[i%len(values)])
			i++
			_ = goesOn
		}
	}
	documents["x"] = bytes.Repeat([]byte("- [x, {y: z}]\n"), 1<<16)
	c, err := Decode(documents)
	if err != nil || len(c.Unreadable) != i || !planted()["x"](c) {
		t.Fatalf("%v, %d of %d", err, len(c.Unreadable), i)
	}
	keepsDocuments(t, "all", documents, c)
}

// A process in which a cluster is in force keeps using its settings and its route map.
func TestWhatIsInForceStays(t *testing.T) {
	before := wholeCluster(t)
	for _, key := range []string{SettingsKey, MapKey} {
		documents := Encode(before)
		documents[key] = []byte("x")
		delete(documents, UserKey("other"))
		c, err := new(Decoder).Decode(documents, before)
		if err != nil || c.Unrouted != "" || c.Settings != before.Settings || !slices.Equal(c.Routes.Entries(), before.Routes.Entries()) || len(c.Users) != 1 {
			t.Errorf("%s: %+v, %v", key, c, err)
		}
		if c, err = new(Decoder).Decode(documents, c); err != nil || c.Unrouted != "" {
			t.Errorf("%s again: %+v, %v", key, c, err)
		}
		if delete(documents, key); unusable(t, documents) == nil {
			t.Errorf("%s is missing, and nothing is said", key)
		}
	}
}

// A file replaces unreadable documents, except for the map and the primaries.
func TestAFileRepairs(t *testing.T) {
	first := wholeCluster(t)
	file, err := Parse(Format(first))
	if err != nil {
		t.Fatal(err)
	}
	for key, repaired := range map[string]bool{
		SettingsKey: true, "shards/s0": true, "shards/s1": true, "shards/s2": true, "tables/shop.orders": true, "users/app": true, "generators/g": true, "generators/h": true,
		MapKey: false, "primaries/s1": false, "counters/shop.items": false, "renaming/shop.items": false,
	} {
		documents := Encode(first)
		documents[key] = []byte("x")
		c, err := Decode(documents)
		if err != nil {
			t.Fatal(err)
		}
		next := *file
		next.Routes = nil
		after, err := Succeed(c, &next, router.Stamp{})
		if err == nil {
			stored := map[string]Stored{}
			for key, value := range documents {
				stored[key] = Stored{value, 5}
			}
			w := PlanWrite(stored, after)
			err = w.ReadBack(new(Decoder), stored, after)
			for key, value := range w.Puts {
				if key, declared := strings.CutPrefix(key, Prefix); declared {
					documents[key] = value
				}
			}
		}
		if again := unusable(t, documents); (err == nil && again == nil) != repaired {
			t.Errorf("%s: %v, %v", key, err, again)
		}
	}
}

// A document that is written under one name is never read as another object's.
func TestWhatIsReadAsSomethingElseIsNotWritten(t *testing.T) {
	c := wholeCluster(t)
	for _, name := range []catalog.TableName{
		{Schema: "a.b", Name: "c"},
		{Schema: "x y", Name: "z"},
		{Schema: "shop", Name: "x y"},
		{Schema: "shop", Name: "a/b"},
		{Schema: "shop", Name: "`"},
		{Schema: "shop", Name: "'"},
		{Schema: "shop", Name: "a\nb"},
		{Schema: "shop", Name: ""},
		{Schema: "", Name: "t"},
		{Schema: "shop", Name: "a\xffb"},
	} {
		next := *c
		next.Tables = maps.Clone(c.Tables)
		next.Tables[name] = catalog.Declaration{Kind: catalog.Global}
		documents := Encode(&next)
		again, err := Decode(documents)
		if err != nil {
			t.Fatal(err)
		}
		stored := map[string]Stored{}
		for key, value := range Encode(c) {
			stored[key] = Stored{value, 5}
		}
		w := PlanWrite(stored, &next)
		if back := w.ReadBack(new(Decoder), stored, &next); (back == nil) != reflect.DeepEqual(again.Tables, next.Tables) {
			t.Errorf("%+v: written: %v, read: %v", name, back, again.Tables)
		}
	}
}

// The file of a cluster can be parsed, whatever text is in unreadable documents and in the last change.
func TestAFileWithUnreadableDocumentsIsRead(t *testing.T) {
	for _, odd := range []string{"a\x01b", "a\x7fb", "a\u0085b", "a\u2028b", "a\xffb", "a\nb: c", "a\r- b", "a\x1b[31m"} {
		documents := Encode(wholeCluster(t))
		documents["tables/shop."+odd] = []byte(odd)
		documents["users/"+odd] = []byte("schema: 1\n" + odd)
		c, err := Decode(documents)
		if err != nil {
			t.Fatal(err)
		}
		c.Stamp.By, c.Stamp.Why = odd, odd
		if _, err := Parse(Format(c)); err != nil {
			t.Errorf("with %q: %v", odd, err)
		}
	}
}
