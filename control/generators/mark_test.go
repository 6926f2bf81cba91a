//go:build servers

package generators

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"locus/idgen/segment"
	"locus/internal/test/servers"
	"locus/router/cluster"
)

// Two clusters, each with its own etcd, use one Redis and one memcached under the same names, while the servers
// lose data. No number is returned twice.
func TestTwoClustersShareAServer(t *testing.T) {
	redis, memcached := servers.Redis(t), servers.Memcached(t)
	declared := of(map[string]cluster.Generator{
		"redis":     {Kind: cluster.RedisGenerator, Server: redis.Addr},
		"segment":   {Kind: cluster.SegmentGenerator, Server: redis.Addr, MinStep: 5, MaxStep: 5},
		"buckets":   {Kind: cluster.BucketsGenerator, Server: redis.Addr},
		"memcached": {Kind: cluster.MemcachedGenerator, Server: memcached.Addr},
	})
	clusters := []*kv{newKV(), newKV()}
	seen := []map[string]bool{{}, {}}
	for round := range 3 {
		for turn := range clusters {
			i := (round + turn) % len(clusters) // the other one fills the servers after they have forgotten
			set := open(t, clusters[i])         // a process without any state
			for name := range declared.Generators {
				texts, err := set.Next(t.Context(), Request{Declared: declared, Name: name, Count: 700 * (1 + round)})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for _, text := range texts {
					if seen[i][name+" "+text] {
						t.Fatalf("cluster %d gave %s of %s twice", i, text, name)
					}
					seen[i][name+" "+text] = true
				}
			}
		}
		if _, err := redis.Do("FLUSHALL"); err != nil {
			t.Fatal(err)
		}
		if said, err := memcached.Ask("flush_all\r\n"); err != nil || said != "OK\r\n" {
			t.Fatal(said, err)
		}
	}
}

// leaving is an etcd that can be made unreachable.
type leaving struct {
	segment.KV
	away bool
}

var errAway = errors.New("etcd is away")

func (l *leaving) Get(ctx context.Context, key string) ([]byte, int64, error) {
	if l.away {
		return nil, 0, errAway
	}
	return l.KV.Get(ctx, key)
}

// With etcd unreachable, a process that has been in the cluster before continues with the numbers in Redis. A
// new process returns an error that names what is missing. etcd's mark takes precedence over the file, and
// invalid marks are refused.
func TestAMarkIsRemembered(t *testing.T) {
	redis, dir := servers.Redis(t), t.TempDir()
	declared := of(map[string]cluster.Generator{"one": {Kind: cluster.RedisGenerator, Server: redis.Addr}})
	store := &leaving{KV: newKV()}
	next := func(dir string) (string, error) {
		set := New(Options{KV: store, Name: "test", DataDir: dir})
		defer func() { _ = set.Close() }()
		texts, err := set.Next(t.Context(), Request{Declared: declared, Name: "one", Count: 1})
		return strings.Join(texts, " "), err
	}
	if text, err := next(dir); err != nil || text != "1" {
		t.Fatalf("%s, %v", text, err)
	}
	store.away = true
	if text, err := next(dir); err != nil || text != "2" {
		t.Errorf("with etcd away: %s, %v", text, err)
	}
	for _, without := range []string{"", t.TempDir()} {
		if text, err := next(without); !errors.Is(err, errAway) || !strings.Contains(err.Error(), "the prefix of this cluster's keys") {
			t.Errorf("with etcd away and nothing remembered: %s, %v", text, err)
		}
	}
	store.away = false
	file := filepath.Join(dir, markFile)
	mark, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"", "A", strings.Repeat("B", 12)} {
		if err := os.WriteFile(file, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err := next(dir); err != nil || text == "1" {
			t.Errorf("remembered is %q: %s, %v", other, text, err)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != string(mark) {
			t.Errorf("remembered is %q, %v, and not %q", now, err, mark)
		}
	}
	broken := newKV()
	if _, err := broken.CompareAndSwap(t.Context(), markKey, 0, []byte("mine")); err != nil {
		t.Fatal(err)
	}
	store.KV = broken
	if text, err := next(dir); err == nil || !strings.Contains(err.Error(), `mark is "mine"`) {
		t.Errorf("etcd has another: %s, %v", text, err)
	}
}

// Processes that start at once have one mark.
func TestOneMark(t *testing.T) {
	store, all := newKV(), sync.Map{}
	var starting sync.WaitGroup
	for range 8 {
		set := open(t, store)
		starting.Go(func() {
			mark, err := set.mark(t.Context())
			if err != nil {
				t.Error(err)
			}
			all.Store(mark, true)
		})
	}
	starting.Wait()
	n := 0
	all.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d marks", n)
	}
}
