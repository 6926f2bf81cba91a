package doctor

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/declared"
	"locus/control/failover"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/idgen/gene"
	"locus/internal/test/scale"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

const declaration = `
shards:
  s0: {address: a:1, user: u, secret: s}
  s1: {servers: [b:1, b:2], user: u, secret: s, admin: {user: a, secret: s}}
tables:
  shop.orders: {kind: sharded, owner: buyer}
  shop.country: {kind: global}
users:
  app: {secret: s}
routes: [0x7fff s0, 0xffff s1]
`

func declare(t *testing.T) *etcd.KV {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	client, err := etcd.Open(etcd.Config{Endpoints: []string{server.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	kv := client.Under("/locus/main/")
	next, err := cluster.Parse([]byte(declaration))
	if err != nil {
		t.Fatal(err)
	}
	state, err := declared.Read(t.Context(), kv)
	if err != nil {
		t.Fatal(err)
	}
	if next, err = cluster.Succeed(nil, next, router.Stamp{By: "test"}); err != nil {
		t.Fatal(err)
	}
	if err := state.Commit(t.Context(), kv, next, router.Stamp{By: "test"}); err != nil {
		t.Fatal(err)
	}
	return kv
}

func put(t *testing.T, kv *etcd.KV, key, value string) {
	t.Helper()
	if _, err := kv.Commit(t.Context(), nil, etcd.Put(key, []byte(value))); err != nil {
		t.Fatal(err)
	}
}

// prefixes returns keys under all prefixes of documents, and values that no reader understands.
func prefixes() (keys []string, values []string) {
	for _, p := range []string{
		"declared/", "declared/tables/", "declared/shards/", "declared/primaries/", "declared/users/", "declared/generators/", "declared/renaming/", "declared/counters/", "declared/what/", "history/",
		"jobs/", "job_reports/", "job_differences/", "job_claims/", "proxies/", "processes/", "failover/records/", "failover/watches/", "questions/", "answers/pulse/", "answers/servers/", "orders/", "segments/", "keys/", "switching/",
	} {
		names := []string{"", "x", "shop.x y", "\x00\xff\n", "shop.no", "a/b", "`", "%zz"}
		for _, name := range names[:scale.Quick(4, len(names))] {
			keys = append(keys, p+name)
		}
	}
	return keys, []string{"", "x", "[]", "null", "42", `"text"`, "{", `{"schema": 99}`, "schema: 99\n", "\x00\xff", strings.Repeat("x", 1<<16)}
}

// All readers of other processes' documents skip those that can't be read.
func TestReadersGoOn(t *testing.T) {
	t.Parallel()
	kv := declare(t)
	keys, values := prefixes()
	for i, key := range keys {
		put(t, kv, key, values[i%len(values)])
	}
	ctx := t.Context()
	store := jobs.New(kv, "test", nil)
	for what, read := range map[string]func() error{
		"declared":  func() error { _, err := declared.Current(ctx, kv); return err },
		"primaries": func() error { _, err := declared.Epochs(ctx, kv); return err },
		"primary":   func() error { _, err := declared.ReadPrimary(ctx, kv, "s1"); return err },
		"history": func() error {
			if versions, err := declared.History(ctx, kv); len(versions) != 1 {
				return err
			}
			return nil
		},
		"cards":     func() error { _, err := fleet.Cards(ctx, kv); return err },
		"processes": func() error { _, _, err := fleet.Known(ctx, kv); return err },
		"pulse":     func() error { _, err := fleet.BeatsLately(ctx, kv, time.Second, time.Second); return err },
		"jobs":      func() error { _, err := store.Jobs(ctx); return err },
		"reports":   func() error { _, err := store.Reports(ctx); return err },
		"proxies":   func() error { _, err := store.Proxies(ctx); return err },
		"map":       func() error { _, err := store.Map(ctx); return err },
		"records":   func() error { _, err := failover.Records(ctx, kv); return err },
	} {
		if err := read(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if cards, _ := fleet.Cards(ctx, kv); len(cards) != 0 {
		t.Errorf("nobody is there, and %d cards are", len(cards))
	}
	tables := declared.NewTables(kv, slog.New(slog.DiscardHandler))
	if _, err := tables.Declare(ctx, catalog.TableName{Schema: "shop", Name: "new"}, catalog.Declaration{Kind: catalog.Global}, "test"); err != nil {
		t.Errorf("a table is declared: %v", err)
	}
	removeAll(ctx, t, kv)
}

// removeAll runs the remedy of each document.
func removeAll(ctx context.Context, t *testing.T, kv *etcd.KV) {
	t.Helper()
	list, err := Documents(ctx, kv)
	if err != nil || len(list) < 50 {
		t.Fatalf("%d documents can't be used, %v", len(list), err)
	}
	for range 2 {
		for _, d := range list {
			if strings.HasSuffix(d.Remedy, " first") {
				continue
			}
			if d.Remedy != "locus documents remove "+d.Key || strings.ContainsAny(d.Key, " \n`'\"&$;\\") {
				t.Errorf("%q: %s", d.Key, d.Remedy)
			}
			if err := Remove(ctx, kv, d.Key, "test", time.Now()); err != nil {
				t.Errorf("%q: %v", d.Key, err)
			}
		}
		if list, err = Documents(ctx, kv); err != nil {
			t.Fatal(err)
		}
	}
	if len(list) > 0 {
		t.Errorf("left are %v", list)
	}
	c, err := declared.Current(ctx, kv)
	if err != nil || len(c.Shards) != 2 || len(c.Users) != 1 || len(c.Tables) != 3 {
		t.Errorf("declared is %+v, %v", c, err)
	}
}

// Documents on which rows or numbers depend can be restored, but never removed.
func TestDocumentsThatAreNeeded(t *testing.T) {
	t.Parallel()
	kv := declare(t)
	ctx := t.Context()
	put(t, kv, "keys/current", `{"version": 1, "fingerprint": "f"}`)
	put(t, kv, "segments/shop.orders/g1/0", `{"bound": 7}`)
	for key, removable := range map[string]bool{
		"declared/settings": false, "declared/map": false, "declared/shards/s0": false, "declared/shards/s1": false, "declared/primaries/s1": false, "keys/current": false, "segments/shop.orders/g1/0": false,
		"declared/tables/shop.country": true, "declared/users/app": true,
	} {
		before, _, err := kv.Get(ctx, key)
		if err != nil || before == nil {
			t.Fatalf("%s: %s %v", key, before, err)
		}
		for _, value := range []string{"x", "", "["} {
			put(t, kv, key, value)
		}
		list, err := Documents(ctx, kv)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %v %v", key, list, err)
		}
		if !removable {
			if err := Remove(ctx, kv, key, "test", time.Now()); err == nil || !strings.Contains(err.Error(), "locus documents restore "+key) {
				t.Errorf("%s: %v", key, err)
			}
		}
		if err := Restore(ctx, kv, key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if after, _, _ := kv.Get(ctx, key); string(after) != string(before) {
			t.Errorf("%s was %q and is %q", key, before, after)
		}
		if err := Restore(ctx, kv, key); err == nil {
			t.Errorf("%s can be used, and was restored", key)
		}
	}
}

// Removing the record of a job withdraws its genes from the map. They stay where they are.
func TestTheRecordOfAJobIsRemoved(t *testing.T) {
	t.Parallel()
	kv := declare(t)
	ctx := t.Context()
	text, _, err := kv.Get(ctx, "declared/map")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := router.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	genes, _ := gene.ParseSet("0x0000-0x0fff", 16)
	moving, err := m.Step([]router.Move{{Job: "split-1", Genes: genes, From: "s0", To: "s1", Held: genes}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, kv, "declared/map", string(router.Encode(moving, router.Stamp{})))
	put(t, kv, "jobs/split-1", "{")
	if err := Remove(ctx, kv, "jobs/split-1", "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	c, err := declared.Current(ctx, kv)
	if err != nil || len(c.Routes.Moves()) != 0 || !c.Routes.Held().Empty() || c.Routes.Version() != moving.Version()+1 || c.Routes.GenesOf("s0").Len() != 1<<15 {
		t.Errorf("%+v, %v", c.Routes, err)
	}
}
