package shop

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"locus/internal/test/servers"
)

// faults is a log handler. It fails the test if a pool logs that a caller handles connections wrongly, which a
// client may never notice, or if anything logs a shard's password.
type faults struct {
	t testing.TB
}

var poolFaults = map[string]bool{"connection given back twice": true, "connection returned too early and closed": true}

func (f faults) Enabled(context.Context, slog.Level) bool { return true }

func (f faults) Handle(ctx context.Context, record slog.Record) error {
	var text bytes.Buffer
	if err := slog.NewJSONHandler(&text, nil).Handle(ctx, record); err != nil {
		return err
	}
	if bytes.Contains(text.Bytes(), []byte(servers.Password)) {
		f.t.Errorf("the proxy logged a password: %s", &text)
	}
	if poolFaults[record.Message] {
		f.t.Errorf("the proxy logged: %s", record.Message)
	}
	return nil
}

func (f faults) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f faults) WithGroup(string) slog.Handler      { return f }
