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

// costs returns the costs after n seconds of two digests. One is fast and frequent. The other is slow, uses
// several shards, and fails now and then.
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
	want := `05:06:22  2 proxies  1,512 statements/s  1.00 errors/s  p50 0.20 ms  p99 0.20 ms  1.50 under way

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

// TestStatementsAreSeenAtAnyWidth: on a terminal the statement comes first, with at least half of the width or its whole length. The figure
// that the statements are sorted by is always there, and no line is wider than the terminal.
func TestStatementsAreSeenAtAnyWidth(t *testing.T) {
	long := func(n uint64) Costs {
		c := costs(n)
		c.Digests[0].Text = "SELECT order_id, buyer_uid, amount, status FROM test_order WHERE buyer_uid = ? ORDER BY created_at DESC LIMIT ?"
		c.Digests[1].Text = "SELECT SUM(größe) FROM t"
		return c
	}
	heads := map[Order]string{ByLoad: "UNDER WAY", ByRate: "/S", ByP99: "P99 MS", ByErrors: "ERRORS/S", ByRows: "ROWS/S", ByTotal: "TOTAL"}
	for _, by := range Orders {
		top := Between(long(10), long(15), by)
		for _, width := range []int{30, 40, 60, 80, 100, 132, 200} {
			for _, colours := range []bool{false, true} {
				lines := strings.Split(strings.TrimRight(escape.ReplaceAllString(top.Draw(Canvas{Width: width, Colours: colours}, 0), ""), "\n"), "\n")
				if !strings.HasPrefix(lines[2], "STATEMENT ") || !strings.Contains(lines[2], heads[by]) {
					t.Errorf("by %s at %d columns the heads are %s", by, width, lines[2])
				}
				for _, line := range lines {
					if n := len([]rune(line)); n > width {
						t.Errorf("by %s: %d columns of %d: %s", by, n, width, line)
					}
				}
				for _, s := range top.Statements {
					want := []rune(s.line())
					want = want[:min(len(want), width/2-1)]
					if all := strings.Join(lines[3:], "\n"); !strings.Contains(all, "\n"+string(want)) && !strings.HasPrefix(all, string(want)) {
						t.Errorf("by %s at %d columns %q is missing in\n%s", by, width, string(want), all)
					}
				}
			}
		}
	}
	want := `05:06:22  2 proxies  1,512 statements/s  1.00 errors/s  p50 0.20 ms  p99 0.20 ms

STATEMENT                                        /S  UNDER WAY  P99 MS  ERRORS/S
shop: SELECT SUM(größe) FROM t                 2.00       1.20     600      1.00
shop: SELECT order_id, buyer_uid, amount, s…  1,500       0.30    0.20         0
`
	if got := Between(long(10), long(15), ByLoad).Draw(Canvas{Width: 80}, 0); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTheFootOfTopFits: at 80 columns all keys are named.
func TestTheFootOfTopFits(t *testing.T) {
	for _, by := range Orders {
		m := &topModel{by: by, viewport: standard(Canvas{})}
		if foot := escape.ReplaceAllString(m.text(), ""); !strings.Contains(foot, "q quits") || !strings.HasSuffix(foot, "t total") {
			t.Errorf("%s", foot)
		}
	}
}

// If statistics were reset in between, or a digest is new, its own rates are used, and no rate is negative.
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
