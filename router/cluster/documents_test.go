package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
)

// drawn draws a valid cluster.
func drawn(t *rapid.T) *Cluster {
	c := &Cluster{
		Shards: map[router.ShardName]Shard{},
		Tables: map[catalog.TableName]catalog.Declaration{},
		Users:  map[string]User{},
	}
	word := rapid.StringMatching(`[A-Za-z0-9_][A-Za-z0-9_.-]{0,12}`)
	for i := range rapid.IntRange(1, 12).Draw(t, "shards") {
		s := Shard{
			Address: fmt.Sprintf("db%d.example:%d", i, rapid.IntRange(1, 65535).Draw(t, "port")),
			User:    rapid.StringMatching(`[\pL\pN\pP]([\pL\pN\pP ]{0,9}[\pL\pN\pP])?`).Draw(t, "user"),
			Secret:  word.Draw(t, "secret"),
			TLS:     rapid.SampledFrom([]TLS{TLSOff, TLSOn, TLSVerify}).Draw(t, "tls"),
		}
		if s.TLS == TLSVerify {
			s.CA = word.Draw(t, "ca")
		}
		c.Shards[router.ShardName(fmt.Sprintf("s%d", i))] = s
	}
	names := c.ShardNames()
	anyShard := rapid.SampledFrom(names)
	for range rapid.IntRange(0, 8).Draw(t, "tables") {
		name := catalog.TableName{Schema: rapid.StringMatching(`[a-z$_0-9]{1,9}`).Draw(t, "schema"), Name: word.Draw(t, "table")}
		c.Tables[name] = rapid.SampledFrom([]catalog.Declaration{
			{Kind: catalog.Global},
			{Kind: catalog.Single, Shard: anyShard.Draw(t, "shard")},
			{Kind: catalog.Sharded, Owner: "buyer", ID: &catalog.IDColumn{Column: "id", Layout: "bytes16"}, OrderNumber: "no", Version: "v"},
			{Kind: catalog.Sharded, Parent: &catalog.IDColumn{Column: "order id", Layout: "bytes16"}, Gene: "gene"},
		}).Draw(t, "declaration")
	}
	for range rapid.IntRange(0, 4).Draw(t, "users") {
		u := User{Secret: word.Draw(t, "user secret")}
		if rapid.Bool().Draw(t, "hash") {
			u = User{AuthenticationString: "$A$005$" + rapid.StringMatching(`[ -~\x01-\x1f]{63}`).Draw(t, "proof")}
		}
		names := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,5}`), 0, 3)
		u.Databases, u.ReadOnly = names.Draw(t, "databases"), rapid.Bool().Draw(t, "read only")
		if len(u.Databases) == 0 {
			u.Databases = nil
		}
		if rapid.Bool().Draw(t, "no ddl") {
			u.DDL = new(bool)
		}
		u.Scatter = rapid.SampledFrom([]Guard{"", GuardWarn, GuardRefuse}).Draw(t, "scatter")
		c.Users[word.Draw(t, "user name")] = u
	}
	c.Settings = Settings{
		GeneBits: rapid.SampledFrom([]gene.Width{14, 15, 16, 23}).Draw(t, "bits"), Hash: Hash,
		CounterGroups: 1 << rapid.IntRange(0, 14).Draw(t, "groups"), DefaultShard: anyShard.Draw(t, "default"),
	}
	drawRoutes(t, c, anyShard)
	return c
}

func drawRoutes(t *rapid.T, c *Cluster, shard *rapid.Generator[router.ShardName]) {
	last := c.Settings.GeneBits.Last()
	var entries []router.Entry
	for bound := gene.Gene(0); bound < last; {
		bound = rapid.OneOf(rapid.Just(last), rapid.Custom(func(t *rapid.T) gene.Gene {
			return gene.Gene(rapid.Uint32Range(uint32(bound)+1, uint32(last)).Draw(t, "bound"))
		})).Draw(t, "next")
		entries = append(entries, router.Entry{Bound: bound, Shard: shard.Draw(t, "owner")})
	}
	m, err := router.New(c.Settings.GeneBits, rapid.Int64Range(1, 1<<40).Draw(t, "version"), entries)
	if err != nil {
		t.Fatal(err)
	}
	c.Routes = m
	line := rapid.StringMatching(`[\pL\pN\pP ]{0,20}`)
	c.Stamp = router.Stamp{
		By: line.Draw(t, "by"), Why: line.Draw(t, "why"),
		At: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 7).UTC(),
	}
}

func TestDocumentsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawn(t)
		if err := c.Validate(); err != nil {
			t.Fatalf("drawn an invalid cluster: %v", err)
		}
		documents := Encode(c)
		again, err := Decode(documents)
		if err != nil {
			t.Fatal(err)
		}
		if got := Encode(again); !maps.EqualFunc(got, documents, bytes.Equal) {
			t.Fatalf("encoded again:\n%s\nfirst:\n%s", got, documents)
		}
		if changes, err := Diff(c, again); err != nil || changes != nil {
			t.Fatalf("differences %v, %v", changes, err)
		}
		if again.Settings != c.Settings {
			t.Fatalf("settings %+v, want %+v", again.Settings, c.Settings)
		}
		if again.Stamp != c.Stamp || again.Routes.Version() != c.Routes.Version() {
			t.Fatalf("stamp %+v of version %d, want %+v of %d", again.Stamp, again.Routes.Version(), c.Stamp, c.Routes.Version())
		}
	})
}

func TestFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawn(t)
		again, err := Parse(Format(c))
		if err != nil {
			t.Fatalf("%v in\n%s", err, Format(c))
		}
		if changes, err := Diff(c, again); err != nil || changes != nil {
			t.Fatalf("differences %v, %v", changes, err)
		}
	})
}

// unusable returns the reasons why documents can't be used.
func unusable(t *testing.T, documents map[string][]byte) error {
	t.Helper()
	c, err := Decode(documents)
	if err != nil {
		t.Fatal(err)
	}
	var all []error
	for _, key := range c.UnreadableKeys() {
		if u := c.Unreadable[key]; !u.Follows {
			all = append(all, fmt.Errorf("%s: %s", key, u.Why))
		}
	}
	return errors.Join(all...)
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"settings", "schema: 2\ngene_bits: 16\nnew: 1\n", "settings: schema 2 is newer than 1, which this build reads: upgrade locus"},
		{"tables/shop.product", "schema: 3\nkind: replicated\nfactor: 3\n", "tables/shop.product: schema 3 is newer than 1"},
		{"map", "schema: 7\nwhat: 1\n", "map: route map: schema 7 is newer than 6"},
		{"shards/s0", "", "shards/s0: the document is empty"},
		{"shards/s0", "schema: 1\nport: 3306\n", `shards/s0: line 2: unknown field "port"`},
		{"shards/s3", "schema: 1\naddress: a:1\nuser: x\n", "shards/s3: shard s3: secret is missing"},
		{"tables/product", "schema: 1\nkind: global\n", `tables/product: table name "product": write it as schema.table`},
		{"map", "", "map: route map: the document is empty"},
		{"things/g", "schema: 1\n", "things/g: this build knows no such document: upgrade locus"},
		{"users/", "schema: 1\nsecret: x\n", `users/: users: name ""`},
	} {
		documents := Encode(good(t))
		documents[c.key] = []byte(c.value)
		if err := unusable(t, documents); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: error is\n  %v\nand not\n  %s", c.key, c.value, err, c.want)
		}
	}
}

func TestDecodeWithoutDocuments(t *testing.T) {
	if _, err := Decode(nil); !errors.Is(err, ErrNotDeclared) {
		t.Errorf("error is %v, want ErrNotDeclared", err)
	}
	documents := Encode(good(t))
	delete(documents, MapKey)
	delete(documents, SettingsKey)
	err := unusable(t, documents)
	want := "map: the document is missing\nsettings: the document is missing"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

// A Decoder that has decoded other documents returns the same result as a new one.
func TestDecoderFollowsChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d Decoder
		var before *Cluster
		for range rapid.IntRange(2, 4).Draw(t, "steps") {
			documents := Encode(drawn(t))
			if rapid.Bool().Draw(t, "unreadable") {
				documents["tables/shop.unreadable"] = []byte("kind: [")
			}
			c, err := d.Decode(documents, before)
			if err != nil {
				t.Fatal(err)
			}
			if want, err := Decode(documents); err != nil || !reflect.DeepEqual(c, want) {
				t.Fatalf("got %+v, a new Decoder %+v, %v", c, want, err)
			}
			if same, err := d.Decode(maps.Clone(documents), c); err != nil || same != c {
				t.Fatalf("the same documents gave %p after %p, %v", same, c, err)
			}
			before = c
		}
	})
}
