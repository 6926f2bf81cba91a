package declared

import (
	"context"
	"errors"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/router"
	"locus/router/cluster"
)

func open(t *testing.T) *etcd.KV {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir()})
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
	successor, err := cluster.Succeed(s.Cluster, next, router.Stamp{By: "test", At: time.Unix(1, 0)})
	if err != nil {
		return err
	}
	return s.Commit(ctx, kv, successor)
}

func TestCommitAndRead(t *testing.T) {
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

func TestReadRefusesWhatItCannotRead(t *testing.T) {
	kv := open(t)
	if _, err := kv.CompareAndSwap(t.Context(), "declared/settings", 0, []byte("schema: 9\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), kv); err == nil {
		t.Error("no error")
	}
}
