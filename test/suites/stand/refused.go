package stand

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"locus/proxy"
)

// refused collects, from a proxy's log, the statements of a suite that the proxy refuses, and those that may
// leave state.
type refused struct {
	slog.Handler // of the stand's proxy
	mu           sync.Mutex
	codes        map[string]int
	texts        map[string]int // by the code, or the kind of state, and by the text without literals
	left         left
}

// mostTexts bounds the number of collected texts.
const mostTexts = 2000

func (r *refused) Handle(ctx context.Context, record slog.Record) error {
	values := map[string]string{}
	record.Attrs(func(a slog.Attr) bool { values[a.Key] = a.Value.String(); return true })
	r.mu.Lock()
	switch record.Message {
	case "statement refused":
		r.codes[values["code"]]++
		r.keep(values["code"] + " " + values["statement"])
	case "statement may leave state":
		r.left.note(values["leaves"], values["statement"])
		r.keep("leaves " + values["leaves"] + " " + values["statement"])
	}
	r.mu.Unlock()
	return r.Handler.Handle(ctx, record)
}

// keep notes a text.
func (r *refused) keep(text string) {
	if len(r.texts) < mostTexts || r.texts[text] > 0 {
		r.texts[text]++
	}
}

func (r *refused) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r *refused) WithGroup(string) slog.Handler      { return r }

// tell logs the refusals, and writes each text into the file that LOCUS_REFUSED names, if it is set.
func (r *refused) tell(t *testing.T, p *proxy.Proxy) {
	r.mu.Lock()
	defer r.mu.Unlock()
	status := p.Status()
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(r.codes)) {
		codes = append(codes, fmt.Sprintf("%s %d", code, r.codes[code]))
	}
	t.Logf("refused of %d statements: %s", status.Counts.Statements.Load(), cmp.Or(strings.Join(codes, ", "), "none"))
	resets, cleaned := resets(status)
	t.Logf("resets per 1,000 statements: %.1f, of which %.1f since statements may have left state: %s", resets, cleaned, r.left)
	path := os.Getenv("LOCUS_REFUSED")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s: %d statements\n", t.Name(), status.Counts.Statements.Load())
	for _, text := range slices.Sorted(maps.Keys(r.texts)) {
		fmt.Fprintf(f, "%7d %s\n", r.texts[text], text)
	}
}

// resets returns, per 1,000 statements of clients, the number of connections that were reset before another
// session got them, and how many of those may have had state.
func resets(status proxy.Status) (all, cleaned float64) {
	for _, pool := range status.Pools {
		all += float64(pool.Resets)
		cleaned += float64(pool.Cleaned)
	}
	thousands := max(1, float64(status.Counts.Statements.Load())) / 1000
	return all / thousands, cleaned / thousands
}
