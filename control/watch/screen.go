package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Screen draws the jobs on a terminal until q is pressed or all of them are over. At the end it prints the last
// display, since the terminal is restored.
func Screen(ctx context.Context, w *Watcher, in io.Reader, out io.Writer, clock func() time.Time) error {
	m := &model{watcher: w, ctx: ctx, clock: clock, viewport: standard(Canvas{Entries: 5})}
	if err := errors.Join(run(ctx, m, in, out), m.err); err != nil {
		return err
	}
	_, err := io.WriteString(out, page(Canvas{Entries: 5}, m.list, clock()))
	return err
}

// model is the bubbletea model. It belongs to one goroutine.
type model struct {
	watcher *Watcher
	ctx     context.Context //nolint:containedctx // context of the queries, which bubbletea starts
	clock   func() time.Time
	viewport

	list    []Seen
	looked  bool
	err     error
	trouble error // error of the last query, which is retried
	failed  int   // consecutive failed queries
}

// looked is the result of a query.
type looked struct {
	list  []Seen
	going bool
	err   error
}

type again struct{}

// every is the interval between queries. patience is how many consecutive ones may fail.
const (
	every    = 500 * time.Millisecond
	patience = 20
)

func (m *model) look() tea.Msg {
	ctx, cancel := context.WithTimeout(m.ctx, 5*time.Second)
	defer cancel()
	list, going, err := m.watcher.Look(ctx)
	return looked{list, going, err}
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return m.look }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resized(msg)
	case tea.KeyPressMsg:
		return m, m.pressed(msg.String())
	case again:
		return m, m.look
	case looked:
		return m, m.found(msg)
	}
	return m, nil
}

func (m *model) pressed(key string) tea.Cmd {
	switch key {
	case "q", "ctrl+c", "esc":
		return tea.Quit
	case "space":
		key = "pgdown"
	}
	m.scrolled(key, 2)
	return nil
}

func (m *model) found(l looked) tea.Cmd {
	if m.trouble = l.err; l.err != nil {
		if m.failed++; m.failed >= patience || !m.looked {
			m.err = l.err
			return tea.Quit
		}
		return wait()
	}
	m.list, m.looked, m.failed = l.list, true, 0
	if !l.going {
		return tea.Quit
	}
	return wait()
}

func wait() tea.Cmd { return tea.Tick(every, func(time.Time) tea.Msg { return again{} }) }

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.text())
	v.AltScreen, v.WindowTitle = true, "locus watch"
	return v
}

func (m *model) text() string {
	foot := m.canvas.in(faint, "q quits")
	if m.trouble != nil {
		foot = m.canvas.in(red, m.canvas.cut(fmt.Sprintf("not up to date: %v", m.trouble)))
	}
	if !m.looked {
		return "looking …\n" + foot
	}
	lines := strings.Split(strings.TrimRight(page(m.canvas, m.list, m.clock()), "\n"), "\n")
	shown := m.seen(lines, 2)
	if len(shown) < len(lines) {
		foot += m.canvas.in(faint, ", ↓ and ↑ scroll")
	}
	return strings.Join(shown, "\n") + "\n\n" + foot
}
