//go:build servers

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locus/config"
	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/ops"
	"locus/internal/test/servers"
	"locus/router/cluster"
)

// shop is a directory with the files of an operator, an etcd and two shards.
type shop struct {
	dir      string
	etcd     string
	database string
	shards   []*servers.Server
}

func openShop(t *testing.T) *shop {
	t.Helper()
	return openShopOn(t, servers.Shared(t, servers.MariaDB, 2))
}

func openShopOn(t *testing.T, shards []*servers.Server) *shop {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	s := &shop{dir: t.TempDir(), etcd: server.Endpoint(), shards: shards}
	s.database = servers.Database(t, s.shards...)
	s.write(t, "secrets/shards/both", s.shards[0].Password)
	s.write(t, "keys.yaml", keyRing)
	s.write(t, "locus.yaml", fmt.Sprintf("etcd: {endpoints: [%q]}\nsecrets: {dir: %s}\nkey_ring: %s\n",
		s.etcd, s.file("secrets"), s.file("keys.yaml")))
	s.write(t, "cluster.yaml", fmt.Sprintf(`shards:
  s0: {address: %q, user: %s, secret: shards/both}
  s1: {address: %q, user: %[2]s, secret: shards/both}
tables:
  %[4]s.test_order:
    kind: sharded
    owner: buyer_uid
    id: {column: order_id, layout: int64}
    order_number: order_no
    version: version
  %[4]s.product: {kind: global}
users:
  app: {secret: users/app}
routes: |
  0x7fff s0
  0xffff s1
`, s.shards[0].Addr(), s.shards[0].User, s.shards[1].Addr(), s.database))
	return s
}

func (s *shop) file(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *shop) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.file(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.file(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// edit replaces a text in cluster.yaml: "old => new".
func (s *shop) edit(t *testing.T, line string) {
	t.Helper()
	old, next, _ := strings.Cut(strings.ReplaceAll(line, `\n`, "\n"), " =>")
	next = strings.TrimPrefix(next, " ")
	text, err := os.ReadFile(s.file("cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%q stands %d times in cluster.yaml", old, strings.Count(string(text), old))
	}
	s.write(t, "cluster.yaml", strings.Replace(string(text), old, next, 1))
}

func (s *shop) transcript() transcript {
	on := func(shard int) func(*testing.T, string) {
		return func(t *testing.T, sql string) {
			t.Helper()
			s.shards[shard].Exec(t, "USE "+s.database, sql)
		}
	}
	words := map[string]string{
		"ETCD": s.etcd, "DB": s.database, "S0": s.shards[0].Addr(), "S1": s.shards[1].Addr(), "PASSWORD": s.shards[0].Password,
		"CONFIG": s.file("locus.yaml"), "FILE": s.file("cluster.yaml"), "GOT": s.file("got.yaml"),
	}
	if len(s.shards) > 2 {
		words["S2"] = s.shards[2].Addr()
	}
	play := transcript{words: words}
	play.steps = map[string]func(*testing.T, string){
		"s0": on(0), "s1": on(1), "s2": on(2), "edit": s.edit,
		"second": func(t *testing.T, key string) { // version of the ring, and current
			t.Helper()
			s.write(t, "keys.yaml", strings.Replace(keyRing, "current: 1", "current: 2", 1)+"  - version: 2\n    key: "+key+"\n")
		},
		"got": func(t *testing.T, _ string) {
			t.Helper()
			s.write(t, "got.yaml", s.output(t, "get", "--etcd", s.etcd))
		},
	}
	return play
}

func (s *shop) output(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	in := &invocation{stdout: &out, stderr: t.Output(), getenv: func(string) string { return "" }, now: time.Now}
	if status := run(t.Context(), args, in); status != 0 {
		t.Fatalf("locus %v: exit status %d", args, status)
	}
	return out.String()
}

func TestApply(t *testing.T) {
	openShop(t).transcript().play(t, "testdata/apply.txt")
}

func TestShards(t *testing.T) {
	openShopOn(t, servers.Shared(t, servers.MariaDB, 3)).transcript().play(t, "testdata/shard.txt")
}

func TestTables(t *testing.T) {
	openShop(t).transcript().play(t, "testdata/table.txt")
}

// If a file and a comment contain different declarations of a table, both are printed, and nothing changes,
// whichever is newer.
func TestAFileAndAComment(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		openShopOn(t, servers.Shared(t, engine, 2)).transcript().play(t, "testdata/comments.txt")
	})
}

// Another apply changes the declaration between the read and the write.
func TestCommitSaysWhoWasFaster(t *testing.T) {
	s := openShop(t)
	client, err := etcd.Open(etcd.Config{Endpoints: []string{s.etcd}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	conn := &connection{client: client, kv: client.Under("/locus/main/")}
	text, err := os.ReadFile(s.file("cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	next, err := cluster.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	in := &invocation{getenv: func(string) string { return "" }, now: time.Now}
	conn.config = config.Default()
	o := in.opsOf(conn)
	plan := func() *ops.Change {
		t.Helper()
		c, err := o.PlanChange(t.Context(), ops.Apply{Cluster: next, SkipLiveCheck: true}, "test")
		if err == nil {
			err = o.CheckChange(t.Context(), c, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	slow, fast := plan(), plan()
	if _, err := o.WriteChange(t.Context(), fast); err != nil {
		t.Fatal(err)
	}
	_, err = o.WriteChange(t.Context(), slow)
	want := "/locus/main/declared/map was changed by another command since it was read; nothing was written; repeat the request"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}
