package declared

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

func open(t *testing.T) *etcd.KV {
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
	return client.Under("/locus/test/")
}

func sample(t *testing.T, routes string) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Parse([]byte(`
shards:
  s0: {address: a:1, user: u, secret: s}
  s1: {address: b:1, user: u, secret: s}
routes: [` + routes + `]
`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func read(t *testing.T, kv *etcd.KV) *State {
	t.Helper()
	s, err := Read(t.Context(), kv)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *State) become(ctx context.Context, kv *etcd.KV, next *cluster.Cluster) error {
	stamp := router.Stamp{By: "test", Why: "a reason", At: time.Unix(1, 0)}
	successor, err := cluster.Succeed(s.Cluster, next, stamp)
	if err != nil {
		return err
	}
	return s.Commit(ctx, kv, successor, stamp)
}

func TestCommitAndRead(t *testing.T) {
	t.Parallel()
	kv := open(t)
	empty := read(t, kv)
	if empty.Cluster != nil {
		t.Fatalf("an empty etcd declares %+v", empty.Cluster)
	}
	if err := empty.become(t.Context(), kv, sample(t, "0xffff s0")); err != nil {
		t.Fatal(err)
	}
	first := read(t, kv)
	if err := first.become(t.Context(), kv, sample(t, "0x7fff s0, 0xffff s1")); err != nil {
		t.Fatal(err)
	}
	second := read(t, kv)
	if got := second.Cluster.Routes.Version(); got != 2 {
		t.Errorf("version %d, want 2", got)
	}
	versions, err := History(t.Context(), kv)
	if err != nil || len(versions) != 2 || versions[0].Map.Version() != 1 || versions[1].Stamp.By != "test" {
		t.Errorf("history is %+v, %v", versions, err)
	}
}

func TestCommitRefusesTheSlower(t *testing.T) {
	t.Parallel()
	kv := open(t)
	if err := read(t, kv).become(t.Context(), kv, sample(t, "0xffff s0")); err != nil {
		t.Fatal(err)
	}
	one, other := read(t, kv), read(t, kv)
	user := sample(t, "0xffff s0")
	user.Users["carl"] = cluster.User{Secret: "c"}
	if err := one.become(t.Context(), kv, user); err != nil {
		t.Fatal(err)
	}
	shard := sample(t, "0xffff s0")
	shard.Shards["s2"] = cluster.Shard{Address: "c:1", User: "u", Secret: "s", TLS: cluster.TLSOff}
	err := other.become(t.Context(), kv, shard)
	var conflict *etcd.Conflict
	if !errors.As(err, &conflict) || conflict.Key != "/locus/test/declared/settings" {
		t.Errorf("error is %v", err)
	}
	if c := read(t, kv).Cluster; len(c.Users) != 1 || len(c.Shards) != 2 {
		t.Errorf("users %v, shards %v", c.Users, c.Shards)
	}
}

// Settings that can't be read leave nothing routed, and are not overwritten by another change.
func TestSettingsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	kv := open(t)
	if err := read(t, kv).become(t.Context(), kv, sample(t, "0xffff s0")); err != nil {
		t.Fatal(err)
	}
	const newer = "schema: 9\n"
	if _, err := kv.Commit(t.Context(), nil, etcd.Put("declared/settings", []byte(newer))); err != nil {
		t.Fatal(err)
	}
	state := read(t, kv)
	if c := state.Cluster; c == nil || !strings.Contains(c.Unrouted, "declared/settings") || !strings.Contains(c.Unrouted, "schema 9 is newer") {
		t.Fatalf("read is %+v", c)
	}
	next := *state.Cluster
	next.Users = map[string]cluster.User{"carl": {Secret: "c"}}
	if err := state.become(t.Context(), kv, &next); err != nil {
		t.Error(err)
	}
	if text, _, err := kv.Get(t.Context(), "declared/settings"); string(text) != newer {
		t.Errorf("settings are %q, %v", text, err)
	}
	next.Tables = map[catalog.TableName]catalog.Declaration{{Schema: "a", Name: "b"}: {Kind: catalog.Global}}
	if err := read(t, kv).become(t.Context(), kv, &next); err == nil || !strings.Contains(err.Error(), "declared/settings") {
		t.Errorf("a table is declared: %v", err)
	}
}
