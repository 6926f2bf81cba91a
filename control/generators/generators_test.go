//go:build servers

package generators

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/idgen/breaker"
	"locus/internal/test/servers"
	"locus/router"
	"locus/router/cluster"
)

// kv is a store in memory.
type kv struct {
	mu       sync.Mutex
	values   map[string][]byte
	revision map[string]int64
	next     int64
	calls    int
	before   func(key string) // called first in each Get
}

func newKV() *kv { return &kv{values: map[string][]byte{}, revision: map[string]int64{}} }

func (k *kv) Get(_ context.Context, key string) ([]byte, int64, error) {
	if k.before != nil {
		k.before(key)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls++
	return k.values[key], k.revision[key], nil
}

func (k *kv) CompareAndSwap(_ context.Context, key string, revision int64, value []byte) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.revision[key] != revision {
		return false, nil
	}
	k.next++
	k.values[key], k.revision[key] = value, k.next
	return true, nil
}

func open(t *testing.T, store *kv) *Set {
	s := New(Options{KV: store, Name: "test", DataDir: t.TempDir()})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// of returns a cluster that declares only generators.
func of(declared map[string]cluster.Generator) *cluster.Cluster {
	return &cluster.Cluster{Generators: declared}
}

// Every kind, by two processes: no text twice.
func TestEveryKind(t *testing.T) {
	redis, memcached := servers.Redis(t).Addr, servers.Memcached(t).Addr
	several := cluster.Servers{Several: []string{redis, servers.Redis(t).Addr}}
	caches := cluster.Servers{Several: []string{memcached, servers.Memcached(t).Addr}}
	declared := map[string]cluster.Generator{
		"plain": {Kind: cluster.SegmentGenerator, MinStep: 10}, "short": {Kind: cluster.SegmentGenerator, MinStep: 5, MaxStep: 7}, "other": {Kind: cluster.SegmentGenerator},
		"pooled": {Kind: cluster.SegmentGenerator, Server: redis}, "flake": {Kind: cluster.SnowflakeGenerator},
		"one": {Kind: cluster.RedisGenerator, Server: redis}, "four": {Kind: cluster.RedisGenerator, Server: redis, Keys: 4},
		"twoservers": {Kind: cluster.RedisGenerator, Servers: several, Keys: 2}, "twopools": {Kind: cluster.SegmentGenerator, Servers: several, MinStep: 10},
		"twoplaces": {Kind: cluster.BucketsGenerator, Servers: several}, "twocaches": {Kind: cluster.MemcachedGenerator, Servers: caches},
		"buckets": {Kind: cluster.BucketsGenerator, Server: redis}, "cached": {Kind: cluster.MemcachedGenerator, Server: memcached},
		"turns": {Kind: cluster.HAGenerator, Of: []string{"plain", "other"}}, "ready": {Kind: cluster.QueueGenerator, Of: []string{"one"}, Bits: 3},
		"invoice": {Kind: cluster.FormatGenerator, Template: "QJ{seq:6}"}, "daily": {Kind: cluster.FormatGenerator, Template: "{time:yyyyMMdd}{seq:5,per=yyyyMMdd}"},
		"safe": {Kind: cluster.HAGenerator, Of: []string{"one", "plain"}}, "soon": {Kind: cluster.QueueGenerator, Of: []string{"turns"}, Bits: 2},
		"bill": {Kind: cluster.FormatGenerator, Of: []string{"soon"}, Template: "B{seq:12}"}, "nested": {Kind: cluster.HAGenerator, Of: []string{"turns", "soon"}},
		"inshort": {Kind: cluster.QueueGenerator, Of: []string{"short"}}, // its inner generator returns fewer numbers at once than it requests
	}
	store := newKV()
	sets := []*Set{open(t, store), open(t, store)}
	for name := range declared {
		seen := map[string]bool{}
		for i := range 60 {
			texts, err := sets[i%2].Next(t.Context(), Request{Declared: of(declared), Name: name, Count: 1 + i%4})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			for _, text := range texts {
				if seen[text] {
					t.Errorf("%s gave %s twice", name, text)
				}
				seen[text] = true
			}
		}
		// A statement of many rows, whatever the steps and blocks.
		texts, err := sets[0].Texts(t.Context(), of(declared), name, most+most/2, nil, nil)
		if err != nil || len(texts) != most+most/2 {
			t.Errorf("%s: %d texts at once, %v", name, len(texts), err)
		}
		for _, text := range texts {
			if seen[text] {
				t.Errorf("%s gave %s twice", name, text)
			}
			seen[text] = true
		}
	}
	status := map[string]Status{}
	for _, s := range sets[0].Status() {
		status[s.Name] = s
	}
	for name, field := range map[string]string{"bill": "sequence", "plain": "sequence", "pooled": "sequence", "turns": "sequence", "flake": "time", "buckets": "epoch"} {
		if left, told := status[name].Left[field]; !told || left <= 0 || left >= 1 {
			t.Errorf("%s: %v is left of its %s", name, left, field)
		}
	}
	if s := status["plain"]; s.Loads == 0 || s.Waits == 0 || s.Failed != 0 {
		t.Errorf("plain: %+v", s.Counts)
	}
	for name, before := range map[string]string{
		"twoservers": "redis " + redis, "twopools": "redis " + redis, "twoplaces": "redis " + redis, "twocaches": "memcached " + memcached, "cached": "memcached", "pooled": "etcd", "one": "redis", "ready": "redis", "buckets": "bucket",
	} {
		if s := status[name].Breakers[before]; s[breaker.Closed] == 0 || len(s) != 1 && s[breaker.Open] > 0 {
			t.Errorf("%s: breakers before %s are %v", name, before, s)
		}
	}
	if texts, err := sets[0].Literals(t.Context(), of(declared), "invoice", 1, nil); err != nil || !strings.HasPrefix(texts[0], "'QJ0") {
		t.Errorf("%v, %v", texts, err)
	}
}

// While one generator waits for a server during its opening, open generators serve numbers and others can be
// opened. Callers of the waiting generator return when their context ends.
func TestOneThatWaitsKeepsNobodyWaiting(t *testing.T) {
	store := newKV()
	s := open(t, store)
	declared := of(map[string]cluster.Generator{
		"plain": {Kind: cluster.SegmentGenerator, MinStep: 100}, "flake": {Kind: cluster.SnowflakeGenerator}, "other": {Kind: cluster.SegmentGenerator},
	})
	next := func(ctx context.Context, name string) error {
		_, err := s.Next(ctx, Request{Declared: declared, Name: name, Count: 1})
		return err
	}
	if err := next(t.Context(), "plain"); err != nil {
		t.Fatal(err)
	}
	waits, answers := make(chan struct{}), make(chan struct{})
	var asked atomic.Bool
	store.before = func(string) {
		if !asked.Swap(true) {
			close(waits)
			<-answers
		}
	}
	var opening sync.WaitGroup
	opening.Go(func() {
		if err := next(t.Context(), "flake"); err != nil {
			t.Error(err)
		}
	})
	<-waits
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, one := range []struct {
		name string
		ctx  context.Context
		want error
	}{{"plain", t.Context(), nil}, {"other", t.Context(), nil}, {"flake", over, context.Canceled}} {
		gone := make(chan error, 1)
		opening.Go(func() { gone <- next(one.ctx, one.name) })
		select {
		case err := <-gone:
			if !errors.Is(err, one.want) {
				t.Errorf("%s: %v, want %v", one.name, err, one.want)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s waits for a server of flake", one.name)
		}
	}
	close(answers)
	opening.Wait()
}

func TestHTTP(t *testing.T) {
	store := newKV()
	declared := map[string]cluster.Generator{
		"orders": {Kind: cluster.SegmentGenerator}, "flake": {Kind: cluster.SnowflakeGenerator},
		"parcel": {Kind: cluster.FormatGenerator, Template: "{context:area:3}-{seq:5}"},
		"branch": {Kind: cluster.FormatGenerator, Template: "{context:area:3,exact}-{context:branch:4}-{seq:5,per=context:area,per=context:branch}"},
		"owner":  {Kind: cluster.SegmentGenerator, Per: "context:owner_key"},
		"few":    {Kind: cluster.FormatGenerator, Template: "{context:unit:9}-{seq:5,per=context:unit}", Values: 1},
	}
	server := httptest.NewServer(Handler(open(t, store), func() *cluster.Cluster { return of(declared) }))
	defer server.Close()
	get := func(path string) (int, string) {
		response, err := http.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	for _, step := range []struct {
		path, body string
		status     int
	}{
		{"/api/segment/get/orders", "1", 200},
		{"/api/segment/get/orders?n=3", "2\n3\n4", 200},
		{"/api/segment/get/orders?n=2&format=json", `{"ids":["5","6"],"tag":"orders"}` + "\n", 200},
		{"/api/id/parcel?area=010", "010-00001", 200},
		{"/api/id/branch?area=010&branch=6541&n=2", "010-6541-00001\n010-6541-00002", 200},
		{"/api/id/branch?area=010&branch=6542", "010-6542-00001", 200},
		{"/api/id/branch?area=011&branch=6541", "011-6541-00001", 200},
		{"/api/id/branch?area=010&branch=6541", "010-6541-00003", 200},
		{"/api/id/branch?area=10&branch=6541", "generator branch: make \"{context:area:3,exact}-{context:branch:4}-{seq:5,per=context:area,per=context:branch}\": part context: the value of \"area\" has 2 bytes: it must have 3\n", 400},
		{"/api/segment/get/owner?owner_key=SN&n=2", "1\n2", 200},
		{"/api/segment/get/owner?owner_key=FP", "1", 200},
		{"/api/segment/get/owner?owner_key=sn", "3", 200},
		{"/api/segment/get/owner", "generator owner: no value for \"owner_key\": give one\n", 400},
		{"/api/segment/get/orders?n=0", "n=0: ask for 1 to 10000\n", 400},
		{"/api/segment/get/flake", "generator flake is of kind snowflake\n", 404},
		{"/api/snowflake/get/orders", "generator orders is of kind segment\n", 404},
		{"/api/id/parcel", "generator parcel: make \"{context:area:3}-{seq:5}\": part context: no value for \"area\": give one\n", 400},
		{"/api/id/parcel?area=0101", "generator parcel: make \"{context:area:3}-{seq:5}\": part context: the value of \"area\" has 4 bytes: at most 3 fit\n", 400},
	} {
		if status, body := get(step.path); status != step.status || body != step.body {
			t.Errorf("%s: %d %q", step.path, status, body)
		}
	}
	full := ""
	for unit := 0; full == ""; unit++ { // until there is no room for another value
		if status, body := get(fmt.Sprint("/api/id/few?unit=", unit)); status == 503 {
			full = body
		} else if status != 200 || unit == 100_000 {
			t.Fatalf("unit %d: %d %s", unit, status, body)
		}
	}
	if !strings.Contains(full, "raise values: of the generator, which is 1") {
		t.Errorf("too many units: %s", full)
	}
	var flakes struct{ IDs []string }
	if status, body := get("/api/snowflake/get/flake?n=100&format=json"); status != 200 || json.Unmarshal([]byte(body), &flakes) != nil || len(flakes.IDs) != 100 {
		t.Errorf("%d %s", status, body)
	}
	store.mu.Lock()
	before := store.calls
	store.mu.Unlock()
	if status, body := get("/api/segment/get/order"); status != 404 || !strings.Contains(body, "no such generator is declared") {
		t.Errorf("an unknown tag: %d %s", status, body)
	}
	store.mu.Lock()
	defer store.mu.Unlock()
	if store.calls != before {
		t.Error("an unknown tag is asked for in the store")
	}
}

func TestUnknownAndTooMany(t *testing.T) {
	s := open(t, newKV())
	if _, err := s.Next(t.Context(), Request{Declared: &cluster.Cluster{}, Name: "x", Count: 1}); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	declared := map[string]cluster.Generator{"x": {Kind: cluster.SegmentGenerator}}
	for _, n := range []int{0, -1, 10_001} {
		if _, err := s.Next(t.Context(), Request{Declared: of(declared), Name: "x", Count: n}); err == nil {
			t.Errorf("%d at a time", n)
		}
	}
}

// Ordered numbers of two processes rise from one request to the next, in turn.
func TestOrdered(t *testing.T) {
	c, shared := onShards(t, servers.MariaDB, map[string]cluster.Generator{
		"etcd": {Kind: cluster.SegmentGenerator, Ordered: true}, "shard": {Kind: cluster.SegmentGenerator, Ordered: true, Store: inMySQL("s0")},
		"row": {Kind: cluster.RowGenerator, Ordered: true, Shards: []router.ShardName{"s1"}}, "text": {Kind: cluster.FormatGenerator, Ordered: true, Template: "{seq:9}"},
		"of": {Kind: cluster.FormatGenerator, Ordered: true, Template: "{seq:9}", Of: []string{"row"}},
	})
	store := newKV()
	sets := []*Set{openWith(t, store, shared[0].Password), openWith(t, store, shared[0].Password)}
	for name := range c.Generators {
		last := 0
		for i := range 60 {
			texts, err := sets[i%7%2].Next(t.Context(), Request{Declared: c, Name: name, Count: 1 + i%3})
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range texts {
				n, err := strconv.Atoi(text)
				if err != nil || n <= last {
					t.Fatalf("%s gave %s after %d, %v", name, text, last, err)
				}
				last = n
			}
		}
	}
}
