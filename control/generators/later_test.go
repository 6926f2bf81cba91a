package generators

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locus/router/cluster"
)

// frozenKV does not answer.
type frozenKV struct{ unlimited atomic.Int64 }

func (f *frozenKV) Get(ctx context.Context, _ string) ([]byte, int64, error) {
	return nil, 0, f.wait(ctx)
}

func (f *frozenKV) CompareAndSwap(ctx context.Context, _ string, _ int64, _ []byte) (bool, error) {
	return false, f.wait(ctx)
}

func (f *frozenKV) wait(ctx context.Context) error {
	if _, limited := ctx.Deadline(); !limited {
		f.unlimited.Add(1)
	}
	<-ctx.Done()
	return ctx.Err()
}

// In a process that starts while etcd is unresponsive, the members of an ha generator are opened concurrently,
// within the time limit of one call. Calls of each kind end within the caller's time limit. Every request to
// etcd has a deadline.
func TestAStartWithoutEtcd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) // a snowflake's time begins in 2024
		kv := &frozenKV{}
		s := New(Options{KV: kv, Name: "test", DataDir: t.TempDir()})
		defer s.Close()
		declared := &cluster.Cluster{Generators: map[string]cluster.Generator{
			"a": {Kind: cluster.SegmentGenerator}, "b": {Kind: cluster.RedisGenerator, Server: "127.0.0.1:1"}, "c": {Kind: cluster.BucketsGenerator, Server: "127.0.0.1:1"},
			"d": {Kind: cluster.MemcachedGenerator, Server: "127.0.0.1:1"}, "flake": {Kind: cluster.SnowflakeGenerator},
			"own": {Kind: cluster.FormatGenerator, Template: "A{seq:9}"}, "daily": {Kind: cluster.FormatGenerator, Template: "{time:yyMMdd}{seq:9,per=yyMMdd}"},
			"all": {Kind: cluster.HAGenerator, Of: []string{"a", "b", "c", "d"}, Limits: &cluster.Limits{Timeout: "100ms"}},
		}}
		began := time.Now()
		m := maker{s, declared, &generator{}}
		members, err := m.membersOf(t.Context(), declared.Generators["all"].Of, "all", 100*time.Millisecond)
		if waited := time.Since(began); err != nil || len(members) != 4 || waited > 100*time.Millisecond {
			t.Errorf("%d members after %v: %v", len(members), waited, err)
		}
		m.into.end()
		for name := range declared.Generators {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			began := time.Now()
			_, err := s.Next(ctx, Request{Declared: declared, Name: name, Count: 1})
			if waited := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || waited > 10*time.Second {
				t.Errorf("%s: %v after %v", name, err, waited)
			}
			cancel()
		}
		if n := kv.unlimited.Load(); n > 0 {
			t.Errorf("%d requests to etcd had no deadline", n)
		}
	})
}
