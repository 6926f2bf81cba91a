package backend

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"locus/router"
)

func fakeRegistry(t *testing.T, l Limits) (*Registry, *fakeServer) {
	f := &fakeServer{}
	r := NewRegistry(l, slog.New(slog.DiscardHandler))
	r.dial = f.dial
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
		f.serving.Wait()
	})
	return r, f
}

func shardsAt(addrs map[router.ShardName]string) (targets []Target) {
	for shard, addr := range addrs {
		targets = append(targets, Target{Shard: shard, Addr: addr, User: "proxy"})
	}
	return targets
}

func TestARegistryFollowsItsTargets(t *testing.T) {
	r, _ := fakeRegistry(t, Limits{})
	r.Apply(shardsAt(map[router.ShardName]string{"s0": "a:1", "s1": "b:1"}))
	s0, _ := r.Pool("s0")
	s1, ok := r.Pool("s1")
	if !ok || len(r.Pools()) != 2 {
		t.Fatalf("pools %v", r.Pools())
	}
	held := borrow(t, s1, Default, 0)
	r.Apply(shardsAt(map[router.ShardName]string{"s0": "a:2", "s2": "c:1"}))
	if p, _ := r.Pool("s0"); p != s0 || p.Stats().Addr != "a:2" {
		t.Error("a shard that moved got another pool, or didn't move")
	}
	if _, ok := r.Pool("s1"); ok {
		t.Error("a shard that is gone has a pool")
	}
	if _, err := s1.Borrow(t.Context(), Default, 0); !errors.Is(err, ErrClosed) || !NotSent(err) {
		t.Errorf("whoever still holds the pool of a shard that is gone: %v", err)
	}
	s1.Return(held)
	r.Apply(shardsAt(map[router.ShardName]string{"s0": "a:2"}))
	if n := len(r.retired); n != 1 { // s2; s1 has got everything back
		t.Errorf("%d pools are waited for", n)
	}
}

func TestClosingARegistryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := fakeRegistry(t, Limits{})
		r.Apply(shardsAt(map[router.ShardName]string{"s0": "a:1", "s1": "b:1"}))
		p, _ := r.Pool("s0")
		held := borrow(t, p, Default, 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed with a connection borrowed: %v", err)
		}
		p.Return(held)
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRunSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := fakeRegistry(t, Limits{IdleTimeout: 10 * time.Second})
		r.Apply(shardsAt(map[router.ShardName]string{"s0": "a:1"}))
		p, _ := r.Pool("s0")
		p.Return(borrow(t, p, Default, 0))
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		if err := r.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run ended with %v", err)
		}
		if s := p.Stats(); s.Open != 0 {
			t.Errorf("%+v", s)
		}
	})
}
