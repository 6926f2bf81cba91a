package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// TopScreen draws the statements on a terminal until q is pressed.
func TopScreen(ctx context.Context, ask Counted, apart time.Duration, by Order, in io.Reader, out io.Writer) error {
	m := &topModel{ask: ask, ctx: ctx, apart: apart, by: by, viewport: standard(Canvas{})}
	return errors.Join(run(ctx, m, in, out), m.err)
}

// topModel is the bubbletea model. It belongs to one goroutine.
type topModel struct {
	ask   Counted
	ctx   context.Context //nolint:containedctx // of the looks, which bubbletea begins
	apart time.Duration
	by    Order
	viewport

	before, now Costs
	looks       int
	stopped     bool // the display is paused
	trouble     error
	failed      int // consecutive failed queries
	err         error
}

type costed struct {
	costs Costs
	err   error
}

func (m *topModel) look() tea.Msg {
	ctx, cancel := context.WithTimeout(m.ctx, 10*time.Second)
	defer cancel()
	costs, err := m.ask(ctx)
	return costed{costs, err}
}

// Init implements tea.Model.
func (m *topModel) Init() tea.Cmd { return m.look }

// Update implements tea.Model.
func (m *topModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resized(msg)
	case tea.KeyPressMsg:
		return m, m.pressed(msg.String())
	case again:
		return m, m.look
	case costed:
		return m, m.found(msg)
	}
	return m, nil
}

// keysOfOrders maps keys to sort orders.
var keysOfOrders = map[string]Order{"l": ByLoad, "s": ByRate, "9": ByP99, "e": ByErrors, "r": ByRows, "t": ByTotal}

func (m *topModel) pressed(key string) tea.Cmd {
	if by, is := keysOfOrders[key]; is {
		m.by, m.top = by, 0
		return nil
	}
	switch key {
	case "q", "ctrl+c", "esc":
		return tea.Quit
	case "space", "p":
		m.stopped = !m.stopped
		return nil
	}
	m.scrolled(key, 6)
	return nil
}

func (m *topModel) found(c costed) tea.Cmd {
	next := tea.Tick(m.apart, func(time.Time) tea.Msg { return again{} })
	if m.trouble = c.err; c.err != nil {
		if m.failed++; m.failed >= patience || m.looks == 0 {
			m.err = c.err
			return tea.Quit
		}
		return next
	}
	m.failed = 0
	if !m.stopped {
		m.before, m.now = m.now, c.costs
		m.looks++
	}
	if m.looks == 1 {
		return tea.Tick(min(m.apart, time.Second), func(time.Time) tea.Msg { return again{} })
	}
	return next
}

// View implements tea.Model.
func (m *topModel) View() tea.View {
	v := tea.NewView(m.text())
	v.AltScreen, v.WindowTitle = true, "locus top"
	return v
}

func (m *topModel) text() string {
	foot := m.canvas.in(faint, m.canvas.cut(fmt.Sprintf("q quits  space stops  ↑↓  by %s: l load s rate 9 p99 e errors r rows t total", m.by)))
	switch {
	case m.trouble != nil:
		foot = m.canvas.in(red, m.canvas.cut(fmt.Sprintf("not up to date: %v", m.trouble)))
	case m.stopped:
		foot = m.canvas.in(yellow, "stopped: space goes on")
	}
	if m.looks < 2 {
		return "looking …\n" + foot
	}
	const heads = 3 // lines that don't scroll
	lines := strings.Split(strings.TrimRight(Between(m.before, m.now, m.by).Draw(m.canvas, 0), "\n"), "\n")
	fixed, rest := lines[:min(heads, len(lines))], lines[min(heads, len(lines)):]
	return strings.Join(slices.Concat(fixed, m.seen(rest, len(fixed)+2)), "\n") + "\n\n" + foot
}
