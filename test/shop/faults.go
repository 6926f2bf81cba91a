package shop

import (
	"context"
	"log/slog"
	"testing"
)

// faults is a log that fails the test where a pool tells that somebody handles
// connections wrongly: a client may never notice.
type faults struct {
	t *testing.T
}

var poolFaults = map[string]bool{"connection given back twice": true, "connection returned too early and closed": true}

func (f faults) Enabled(context.Context, slog.Level) bool { return true }

func (f faults) Handle(_ context.Context, record slog.Record) error {
	if poolFaults[record.Message] {
		f.t.Errorf("the proxy logged: %s", record.Message)
	}
	return nil
}

func (f faults) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f faults) WithGroup(string) slog.Handler      { return f }
