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

// TopScreen draws the statements on a terminal until q is pressed.
func TopScreen(ctx context.Context, ask Counted, apart time.Duration, by Order, in io.Reader, out io.Writer) error {
	m := &topModel{ask: ask, ctx: ctx, apart: apart, by: by, canvas: Canvas{Width: 80, Colours: true}, height: 24}
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()).Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		err = nil // by a signal
	}
	return errors.Join(err, m.err)
}

// topModel is what bubbletea draws; one goroutine has it.
type topModel struct {
	ask    Counted
	ctx    context.Context //nolint:containedctx // of the looks, which bubbletea begins
	apart  time.Duration
	by     Order
	canvas Canvas
	height int

	before, now Costs
	looks       int
	stopped     bool // what is shown stays
	trouble     error
	failed      int // looks in a row
	err         error
	top         int // lines that were scrolled away
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
		m.canvas.Width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.pressed(msg.String())
	case again:
		return m, m.look
	case costed:
		return m, m.found(msg)
	}
	return m, nil
}

// keysOfOrders are what is pressed for another order.
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
	case "down", "j":
		m.top++
	case "up", "k":
		m.top--
	case "pgdown":
		m.top += m.height - 6
	case "pgup":
		m.top -= m.height - 6
	}
	m.top = max(0, m.top)
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
	foot := m.canvas.in(faint, m.canvas.cut(fmt.Sprintf("by %s: l load  s rate  9 p99  e errors  r rows  t total   space stops  ↑ ↓ scroll  q quits", m.by)))
	switch {
	case m.trouble != nil:
		foot = m.canvas.in(red, m.canvas.cut(fmt.Sprintf("not up to date: %v", m.trouble)))
	case m.stopped:
		foot = m.canvas.in(yellow, "stopped: space goes on")
	}
	if m.looks < 2 {
		return "looking …\n" + foot
	}
	const heads = 3 // lines that stay
	lines := strings.Split(strings.TrimRight(Between(m.before, m.now, m.by).Draw(m.canvas, 0), "\n"), "\n")
	fixed, rest := lines[:min(heads, len(lines))], lines[min(heads, len(lines)):]
	room := max(1, m.height-len(fixed)-2)
	m.top = max(0, min(m.top, len(rest)-room))
	rest = rest[m.top:min(len(rest), m.top+room)]
	return strings.Join(append(append([]string(nil), fixed...), rest...), "\n") + "\n\n" + foot
}
