package jobs

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/declared"
	"locus/idgen/gene"
	"locus/migrate"
	"locus/migrate/job"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// A job is not announced while a table is being renamed, even if its process checked before the rename began.
// The record and the map don't change.
func TestNoneIsAnnouncedAmidARename(t *testing.T) {
	kv := started(t)
	store := New(kv, "the test", nil)
	genes := gene.NewSet(gene.Range{First: 0, Last: 0xff})
	j, err := job.New("7", job.Split, "s0", "s1", gene.W16, genes, "anna", "", time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Create(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	announce := func(snap migrate.Snapshot) error {
		t.Helper()
		next, err := snap.Map.Step([]router.Move{{Job: j.ID, Genes: genes, From: "s0", To: "s1"}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Write(t.Context(), snap, snap.Job, next, "announced")
		return err
	}
	before := snapshot(t, store, j.ID)
	renames, list := declared.Renames{KV: kv, Log: slog.New(slog.DiscardHandler)}, []catalog.Rename{{From: cart, To: catalog.TableName{Schema: "shop", Name: "basket"}}}
	if _, _, err := renames.Begin(t.Context(), list, "anna"); err != nil {
		t.Fatal(err)
	}
	if err := announce(snapshot(t, store, j.ID)); err == nil || !strings.Contains(err.Error(), "renaming/shop.basket") || !strings.Contains(err.Error(), "RENAME TABLE") {
		t.Errorf("amid a rename: %v", err)
	}
	amid := snapshot(t, store, j.ID)
	if _, err := store.Write(t.Context(), amid, amid.Job, amid.Map.Renewed(), "nothing is announced"); err != nil {
		t.Errorf("another change of the map, amid a rename: %v", err)
	}
	if err := renames.End(t.Context(), list, "anna"); err != nil {
		t.Fatal(err)
	}
	if err := announce(before); !errors.Is(err, migrate.ErrChanged) {
		t.Errorf("by who has looked before it: %v", err)
	}
	if moves := snapshot(t, store, j.ID).Map.Moves(); len(moves) > 0 {
		t.Errorf("announced are %v", moves)
	}
	if err := announce(snapshot(t, store, j.ID)); err != nil {
		t.Errorf("after it: %v", err)
	}
}

var cart = catalog.TableName{Schema: "shop", Name: "cart"}

// started returns an etcd with two shards and a sharded table.
func started(t *testing.T) *etcd.KV {
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
	kv := client.Under("/locus/test/")
	c, err := cluster.Parse([]byte(`
shards:
  s0: {address: a:1, user: u, secret: s}
  s1: {address: b:1, user: u, secret: s}
tables:
  shop.cart: {kind: sharded, owner: uid}
routes: [0xffff s0]
`))
	if err != nil {
		t.Fatal(err)
	}
	state, err := declared.Read(t.Context(), kv)
	if err != nil {
		t.Fatal(err)
	}
	first, err := cluster.Succeed(state.Cluster, c, router.Stamp{By: "test", At: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	if err := state.Commit(t.Context(), kv, first, router.Stamp{By: "test", At: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	return kv
}

func snapshot(t *testing.T, store *Store, id string) migrate.Snapshot {
	t.Helper()
	snap, err := store.Read(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}
