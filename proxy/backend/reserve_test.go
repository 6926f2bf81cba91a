package backend

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"
)

func TestReserve(t *testing.T) {
	p := NewPool(Target{Shard: "s0"}, Limits{MaxOpen: 7, WaitTimeout: time.Millisecond}, slog.New(slog.DiscardHandler))
	first, err := p.Reserve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.Reserve(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err = p.Reserve(t.Context()); !errors.As(err, new(*ExhaustedError)) {
		t.Errorf("a third of 7: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p.limits.WaitTimeout = time.Hour
	if _, err = p.Reserve(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	first()
	if _, err = p.Reserve(t.Context()); err != nil {
		t.Errorf("after a release: %v", err)
	}
}
