package watch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"locus/proxy/meter"
)

var topAt = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// costs are those of n seconds, of two digests: one is fast and frequent, one is slow,
// goes to several shards and fails now and then.
func costs(n uint64) Costs {
	return Costs{Proxies: 2, Report: meter.Report{
		At: topAt.Add(time.Duration(n) * time.Second),
		Digests: []meter.Figures{
			{
				Hash: "a1", Text: "SELECT * FROM t WHERE id = ?", Database: "shop", Kind: "select", Count: 1500 * n, Rows: 1500 * n, TotalMs: 300 * float64(n),
				Times: []meter.Times{{UpToNs: 200_000, Count: 1500 * n}},
			},
			{
				Hash: "b2", Text: "SELECT SUM(x)\n  FROM t", Database: "shop", Kind: "select", Count: 2 * n, Failed: n, Several: n, Rows: n, TotalMs: 1200 * float64(n),
				Times: []meter.Times{{UpToNs: 600_000_000, Count: 2 * n}}, LastCode: 1317,
			},
		},
		Others: meter.Figures{Text: meter.Others, Count: 10 * n, TotalMs: float64(n), Times: []meter.Times{{UpToNs: 100_000, Count: 10 * n}}},
	}}
}

func TestStatementsBetweenTwoLooks(t *testing.T) {
	top := Between(costs(10), costs(15), ByLoad)
	want := `05:06:22  2 proxies  1,512 statements/s  1.50 under way  p50 0.20 ms  p99 0.20 ms  1.00 errors/s

   /S  UNDER WAY  P50 MS  P99 MS  ERRORS/S  ROWS/S  SEVERAL  TOTAL  STATEMENT
 2.00       1.20     600     600      1.00    1.00     50 %   18 s  shop: SELECT SUM(x) FROM t
1,500       0.30    0.20    0.20         0   1,500             5 s  shop: SELECT * FROM t WHERE id = ?
`
	if got := top.Draw(Canvas{}, 0); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if by := Between(costs(10), costs(15), ByRate).Statements[0].Digest; by != "a1" {
		t.Errorf("by rate %s comes first", by)
	}
	narrow := top.Draw(Canvas{Width: 40}, 1)
	for line := range strings.Lines(narrow) {
		if len([]rune(strings.TrimRight(line, "\n"))) > 40 {
			t.Errorf("too wide: %s", line)
		}
	}
	if strings.Contains(narrow, "1,500") {
		t.Errorf("more than one statement:\n%s", narrow)
	}
}

// Where figures began anew in between, or a digest is new, its own rates count and
// nothing is negative.
func TestStatementsThatBeganAnew(t *testing.T) {
	now := costs(1)
	now.Digests[0].PerSecond, now.Digests[0].Load = 7, 0.5
	for name, before := range map[string]Costs{"reset": costs(100), "new": {}} {
		s := Between(before, now, ByRate).Statements[0]
		if s.Digest != "a1" || s.PerSecond != 7 || s.Load != 0.5 || s.Errors != 0 || s.P99Ms != 0.2 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestTopOnAScreen(t *testing.T) {
	n := uint64(0)
	fails := error(nil)
	m := &topModel{ctx: t.Context(), apart: time.Second, by: ByLoad, viewport: viewport{canvas: Canvas{Width: 100}, height: 8}, ask: func(context.Context) (Costs, error) {
		n++
		return costs(n), fails
	}}
	look := func() { m.Update(m.look()) }
	press := func(key rune) { m.Update(tea.KeyPressMsg{Code: key, Text: string(key)}) }
	first := func() string {
		lines := strings.Split(m.text(), "\n")
		return lines[3]
	}
	look()
	if text := m.text(); !strings.HasPrefix(text, "looking") {
		t.Errorf("after one look: %s", text)
	}
	look()
	if !strings.Contains(first(), "SUM") {
		t.Errorf("by load: %s", m.text())
	}
	press('s')
	if !strings.Contains(first(), "WHERE id") || !strings.Contains(m.text(), "by rate") {
		t.Errorf("by rate: %s", m.text())
	}
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 6})
	press('j')
	if !strings.Contains(first(), "SUM") {
		t.Errorf("scrolled: %s", m.text())
	}
	press('p')
	before := m.text()
	look()
	if m.text() != before {
		t.Error("what is stopped goes on")
	}
	press('p')
	fails = errors.New("etcd is away")
	look()
	if !strings.Contains(m.text(), "not up to date: etcd is away") {
		t.Errorf("a look that fails: %s", m.text())
	}
	if _, quit := m.Update(tea.KeyPressMsg{Code: 'q', Text: "q"}); quit == nil {
		t.Error("q does not end it")
	}
}
