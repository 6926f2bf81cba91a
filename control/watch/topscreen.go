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

	"locus/proxy/meter"
)

// Inspected queries the proxies for all figures of one digest.
type Inspected func(ctx context.Context, database, digest string) (meter.Details, error)

// TopScreen draws the statements on a terminal until q is pressed.
func TopScreen(ctx context.Context, ask Counted, inspect Inspected, apart time.Duration, by Order, in io.Reader, out io.Writer) error {
	m := &topModel{ask: ask, inspect: inspect, ctx: ctx, apart: apart, by: by, viewport: standard(Canvas{})}
	return errors.Join(run(ctx, m, in, out), m.err)
}

// topModel is the bubbletea model. It belongs to one goroutine.
type topModel struct {
	ask     Counted
	inspect Inspected
	ctx     context.Context //nolint:containedctx // context of the queries, which bubbletea starts
	apart   time.Duration
	by      Order
	viewport

	before, now Costs
	looks       int
	stopped     bool // the display is paused
	trouble     error
	failed      int // consecutive failed queries
	err         error

	at     int    // the selected statement of the list
	filter string // only statements that contain this text are shown
	typing bool   // keys are added to the filter
	help   bool   // the keys are explained
	opened *opened
}

// opened is the statement whose figures are shown instead of the list.
type opened struct {
	database, digest string
	details          meter.Details
	answered         bool
	trouble          error
}

type costed struct {
	costs Costs
	err   error
}

// inspected is an answer about one digest.
type inspected struct {
	database, digest string
	details          meter.Details
	err              error
}

// lookPatience limits the wait for the proxies.
const lookPatience = 10 * time.Second

func (m *topModel) look() tea.Msg {
	ctx, cancel := context.WithTimeout(m.ctx, lookPatience)
	defer cancel()
	costs, err := m.ask(ctx)
	return costed{costs, err}
}

// inspecting returns the command that queries the figures of the opened statement. It is nil if none is opened.
func (m *topModel) inspecting() tea.Cmd {
	if m.opened == nil {
		return nil
	}
	database, digest := m.opened.database, m.opened.digest
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, lookPatience)
		defer cancel()
		details, err := m.inspect(ctx, database, digest)
		return inspected{database, digest, details, err}
	}
}

// Init implements tea.Model.
func (m *topModel) Init() tea.Cmd { return m.look }

// Update implements tea.Model.
func (m *topModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resized(msg)
	case tea.KeyPressMsg:
		return m, m.pressed(msg)
	case again:
		return m, m.look
	case costed:
		return m, tea.Batch(m.found(msg), m.inspecting())
	case inspected:
		if o := m.opened; o != nil && o.database == msg.database && o.digest == msg.digest {
			o.details, o.trouble, o.answered = msg.details, msg.err, true
		}
	}
	return m, nil
}

// keysOfOrders maps keys to sort orders.
var keysOfOrders = map[string]Order{"l": ByLoad, "s": ByRate, "9": ByP99, "e": ByErrors, "r": ByRows, "t": ByTotal}

func (m *topModel) pressed(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case key == "ctrl+c":
		return tea.Quit
	case m.typing:
		m.typed(key, msg.Text)
		return nil
	case key == "q":
		return tea.Quit
	case m.help:
		m.help = false
		return nil
	case key == "?":
		m.help = true
		return nil
	case m.opened != nil:
		m.pressedOnDetails(key)
		return nil
	}
	return m.pressedOnList(key)
}

// typed changes the filter.
func (m *topModel) typed(key, text string) {
	switch key {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, ""
	case "backspace":
		if runes := []rune(m.filter); len(runes) > 0 {
			m.filter = string(runes[:len(runes)-1])
		}
	default:
		m.filter += text
	}
	m.at, m.top = 0, 0
}

func (m *topModel) pressedOnDetails(key string) {
	switch key {
	case "esc", "backspace", "left", "enter":
		m.opened, m.top = nil, 0
	default:
		m.scrolled(key, 3)
	}
}

func (m *topModel) pressedOnList(key string) tea.Cmd {
	if by, is := keysOfOrders[key]; is {
		m.by, m.at, m.top = by, 0, 0
		return nil
	}
	switch key {
	case "esc":
		if m.filter == "" {
			return tea.Quit
		}
		m.filter = ""
	case "/":
		m.typing = true
	case "space", "p":
		m.stopped = !m.stopped
	case "down", "j":
		m.at++
	case "up", "k":
		m.at--
	case "pgdown":
		m.at += m.height - 6
	case "pgup":
		m.at -= m.height - 6
	case "enter", "right":
		return m.open()
	}
	return nil
}

// open shows the selected statement.
func (m *topModel) open() tea.Cmd {
	list := m.selected().Statements
	if m.looks < 2 || m.at < 0 || m.at >= len(list) || m.inspect == nil {
		return nil
	}
	m.opened, m.top = &opened{database: list[m.at].Database, digest: list[m.at].Digest}, 0
	return m.inspecting()
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

// selected returns the statements that the filter selects.
func (m *topModel) selected() Top {
	top := Between(m.before, m.now, m.by)
	if part := strings.ToLower(m.filter); part != "" {
		top.Statements = slices.DeleteFunc(top.Statements, func(s Statement) bool {
			return !strings.Contains(strings.ToLower(s.line()+" "+s.Digest), part)
		})
	}
	return top
}

// topHelp explains the keys. It fits a terminal of 80 columns and 24 lines.
const topHelp = `locus top shows what the running statements cost, over the last seconds.

  ↑ ↓ PgUp PgDn  select a statement
  Enter          show it: shards, users, errors, and the last hour
  Esc            go back
  /              filter by a part of the text, the database or the digest
  Space          stop and continue the updates
  q              quit

  order by       l load   s rate   9 p99   e errors   r rows   t total time

  /S             statements per second
  UNDER WAY      how many run at once, on average
  P50 P99 MS     half of them, and 99 of 100, took at most this time
  SEVERAL        share of them that was sent to several shards
  TOTAL          time of all of them since the counters began

Press any key.`

func (m *topModel) text() string {
	switch {
	case m.looks < 2:
		return "looking …\n" + m.foot()
	case m.help:
		return topHelp
	case m.opened != nil:
		return m.detailsText()
	}
	top := m.selected()
	lines := strings.Split(strings.TrimRight(top.Draw(m.canvas, 0), "\n"), "\n")
	if len(top.Statements) == 0 && m.filter != "" {
		lines[len(lines)-1] = "no statement contains " + m.filter
	}
	heads := max(0, len(lines)-len(top.Statements)) // lines that don't scroll
	fixed, rest := lines[:heads], lines[heads:]
	m.at = max(0, min(m.at, len(rest)-1))
	m.reveal(m.at, heads+2)
	if m.canvas.Colours && len(rest) > 0 {
		rest[m.at] = "\x1b[7m" + withoutEscapes(rest[m.at]) + "\x1b[0m"
	}
	return strings.Join(slices.Concat(fixed, m.seen(rest, heads+2)), "\n") + "\n\n" + m.foot()
}

// detailsText draws the opened statement. If the proxies don't list it any more, its figures of the last seconds are zero.
func (m *topModel) detailsText() string {
	o := m.opened
	s := Statement{Digest: o.digest, Database: o.database, Text: o.details.Text}
	for _, one := range Between(m.before, m.now, m.by).Statements {
		if one.Digest == o.digest && one.Database == o.database {
			s = one
		}
	}
	if o.details.Text != "" {
		s.Text = o.details.Text // it is longer
	}
	foot := m.canvas.in(faint, m.canvas.cut("Esc goes back  ↑↓ scroll  ? help  q quits"))
	switch {
	case o.trouble != nil:
		foot = m.canvas.in(red, m.canvas.cut(fmt.Sprintf("not up to date: %v", o.trouble)))
	case !o.answered:
		return s.line() + "\n\nasking the proxies …\n\n" + foot
	}
	lines := strings.Split(strings.TrimRight(m.canvas.drawDetails(s, o.details), "\n"), "\n")
	return strings.Join(m.seen(lines, 2), "\n") + "\n\n" + foot
}

func (m *topModel) foot() string {
	switch {
	case m.typing:
		return m.canvas.cut("filter: " + m.filter + "█  Enter keeps it, Esc clears it")
	case m.trouble != nil:
		return m.canvas.in(red, m.canvas.cut(fmt.Sprintf("not up to date: %v", m.trouble)))
	case m.stopped:
		return m.canvas.in(yellow, "stopped: space goes on")
	}
	filter := ""
	if m.filter != "" {
		filter = "  with " + m.filter
	}
	return m.canvas.in(faint, m.canvas.cut(fmt.Sprintf("? help  q quits  / filter  Enter details  by %s: l s 9 e r t%s", m.by, filter)))
}

// withoutEscapes removes the escape sequences of colours.
func withoutEscapes(line string) string {
	var b strings.Builder
	escape := false
	for _, r := range line {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
