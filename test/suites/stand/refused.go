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

// refused collects what a proxy refuses of a suite's statements, as it logs it.
type refused struct {
	slog.Handler // of the stand's proxy
	mu           sync.Mutex
	codes        map[string]int
	texts        map[string]int // by code and text without literals
}

// mostTexts bounds what is kept of them.
const mostTexts = 2000

func (r *refused) Handle(ctx context.Context, record slog.Record) error {
	if record.Message == "statement refused" {
		values := map[string]string{}
		record.Attrs(func(a slog.Attr) bool { values[a.Key] = a.Value.String(); return true })
		r.mu.Lock()
		r.codes[values["code"]]++
		if text := values["code"] + " " + values["statement"]; len(r.texts) < mostTexts || r.texts[text] > 0 {
			r.texts[text]++
		}
		r.mu.Unlock()
	}
	return r.Handler.Handle(ctx, record)
}

func (r *refused) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r *refused) WithGroup(string) slog.Handler      { return r }

// tell says what was refused, and writes each text into the file that LOCUS_REFUSED names, if it names one.
func (r *refused) tell(t *testing.T, p *proxy.Proxy) {
	r.mu.Lock()
	defer r.mu.Unlock()
	status := p.Status()
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(r.codes)) {
		codes = append(codes, fmt.Sprintf("%s %d", code, r.codes[code]))
	}
	t.Logf("refused of %d statements: %s", status.Counts.Statements.Load(), cmp.Or(strings.Join(codes, ", "), "none"))
	t.Logf("resets per 1,000 statements: %.1f", resets(status))
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

// resets counts the connections that were reset before somebody else had them, per 1,000 statements of clients'.
func resets(status proxy.Status) float64 {
	var n uint64
	for _, pool := range status.Pools {
		n += pool.Resets
	}
	return 1000 * float64(n) / max(1, float64(status.Counts.Statements.Load()))
}
