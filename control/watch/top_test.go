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

// TestTheFootOfTopFits: at 80 columns all kinds of keys are named, and the help fits the terminal.
func TestTheFootOfTopFits(t *testing.T) {
	for _, by := range Orders {
		m := &topModel{by: by, viewport: standard(Canvas{})}
		if foot := escape.ReplaceAllString(m.text(), ""); !strings.Contains(foot, "q quits") || !strings.HasSuffix(foot, "l s 9 e r t") {
			t.Errorf("%s", foot)
		}
	}
	lines := strings.Split(topHelp, "\n")
	for _, line := range lines {
		if len([]rune(line)) > 80 {
			t.Errorf("too wide: %s", line)
		}
	}
	if len(lines) > 24 {
		t.Errorf("the help has %d lines", len(lines))
	}
}

// TestTopIsFilteredAndOpened: a filter selects statements, and Enter shows the selected one until Esc.
func TestTopIsFilteredAndOpened(t *testing.T) {
	n := uint64(0)
	m := &topModel{ctx: t.Context(), apart: time.Second, by: ByLoad, viewport: viewport{canvas: Canvas{Width: 80}, height: 30}, ask: func(context.Context) (Costs, error) {
		n++
		return costs(n), nil
	}}
	m.inspect = func(_ context.Context, database, digest string) (meter.Details, error) {
		return meter.Details{
			Figures: meter.Figures{Hash: digest, Database: database, Text: "SELECT * FROM t WHERE id = ? AND the_text_is_longer = ?", Count: 6, Several: 2, Sent: 6},
			Shards:  []meter.Part{{Name: "s0", Count: 4, TotalMs: 8}, {Name: "s1", Count: 2, Failed: 1, TotalMs: 40}}, Users: []meter.Part{{Name: "app", Count: 6}},
			Codes: []meter.Part{{Name: "1205", Count: 1, Failed: 1}}, Minutes: []meter.Point{{At: topAt, Count: 60}, {At: topAt.Add(time.Minute), Count: 120}},
		}, nil
	}
	press := func(keys ...tea.KeyPressMsg) (cmd tea.Cmd) {
		for _, key := range keys {
			_, cmd = m.Update(key)
		}
		return cmd
	}
	letter := func(r rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: r, Text: string(r)} }
	enter, esc := tea.KeyPressMsg{Code: tea.KeyEnter}, tea.KeyPressMsg{Code: tea.KeyEscape}
	shows := func(what string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if text := m.text(); !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", what, want, text)
			}
		}
		for line := range strings.Lines(m.text()) {
			if len([]rune(strings.TrimRight(line, "\n"))) > 80 {
				t.Errorf("%s is too wide: %s", what, line)
			}
		}
	}
	m.Update(m.look())
	m.Update(m.look())
	press(letter('?'))
	shows("the help", "select a statement", "order by")
	press(letter('x'), letter('/'), letter('w'), letter('h'), letter('q'), tea.KeyPressMsg{Code: tea.KeyBackspace})
	shows("the filter", "filter: wh█", "WHERE id")
	if strings.Contains(m.text(), "SUM") {
		t.Errorf("another statement is shown:\n%s", m.text())
	}
	press(enter, letter('/'), letter('!'), enter)
	shows("a filter that selects nothing", "no statement contains wh!")
	if press(enter) != nil {
		t.Error("no statement is opened")
	}
	if press(esc) != nil {
		t.Error("Esc does not only clear the filter")
	}
	shows("the list", "SUM", "WHERE id")
	opening := press(letter('j'), enter)
	shows("a statement that is not answered yet", "asking the proxies", "WHERE id")
	m.Update(opening())
	shows("a statement", "the_text_is_longer", "digest a1", "2 on several shards, 3.00 of them each", "SHARD", "s1", "20.0", "USER", "app", "ERROR", "1205", "▅█", "1.00 to 2.00 /s")
	m.inspect = func(context.Context, string, string) (meter.Details, error) {
		return meter.Details{}, errors.New("etcd is away")
	}
	m.Update(m.inspecting()())
	shows("a statement that can't be asked for", "not up to date: etcd is away")
	press(esc)
	shows("the list", "SUM", "WHERE id")
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
