package switchover

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"locus/control/failover"
	"locus/internal/test/golden"
)

// recorder keeps the trace of a process that watches the shards' servers.
type recorder struct {
	slog.Handler

	mu      sync.Mutex
	entries strings.Builder
}

// recorded is the directory of the failovers that control/failover decides again.
const recorded = "../../control/failover/testdata/recorded/"

// record returns a handler that writes the trace of a process into a file when the test ends, if the process has polled. In the file
// the servers have names in place of their addresses.
func (s *stand) record(t *testing.T) *recorder {
	r := &recorder{Handler: slog.DiscardHandler}
	s.recorders++
	path := fmt.Sprintf("%s%s.%d.txt", recorded, strings.ReplaceAll(t.Name(), "/", "."), s.recorders)
	t.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		text := r.entries.String()
		for i := range s.servers {
			text = strings.ReplaceAll(strings.ReplaceAll(text, s.addr(i), fmt.Sprintf("server-%c", 'a'+i)), s.servers[i].Addr(), fmt.Sprintf("server-%c", 'a'+i))
		}
		if strings.Contains(text, "promote server") {
			golden.Update(t, path, text)
		}
	})
	return r
}

// Enabled reports that all levels are kept.
func (*recorder) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps the entries of the trace of shard s0.
func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	entry, is := strings.CutPrefix(record.Message, failover.TraceMessage)
	if !is {
		return nil
	}
	fields := map[string]string{}
	record.Attrs(func(a slog.Attr) bool {
		fields[a.Key] = a.Value.String()
		return true
	})
	if fields["shard"] != "s0" {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.entries, "%s %s\n", entry, fields["value"])
	return nil
}

// WithAttrs returns the same handler.
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler { return r }

// WithGroup returns the same handler.
func (r *recorder) WithGroup(string) slog.Handler { return r }
