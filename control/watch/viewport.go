package watch

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
)

// run makes bubbletea draw a model until it quits or ctx ends.
func run(ctx context.Context, m tea.Model, in io.Reader, out io.Writer) error {
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()).Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil // ended by a signal
	}
	return err
}

// viewport is the visible part of a long page.
type viewport struct {
	canvas Canvas
	height int
	top    int // number of lines above the visible part
}

// standard is the size of a terminal that doesn't report it.
func standard(c Canvas) viewport {
	c.Width, c.Colours = 80, true
	return viewport{canvas: c, height: 24}
}

func (v *viewport) resized(msg tea.WindowSizeMsg) { v.canvas.Width, v.height = msg.Width, msg.Height }

// scrolled handles a scroll key. less is the number of lines of the terminal that aren't part of the page.
func (v *viewport) scrolled(key string, less int) {
	switch key {
	case "down", "j":
		v.top++
	case "up", "k":
		v.top--
	case "pgdown":
		v.top += v.height - less
	case "pgup":
		v.top -= v.height - less
	}
}

// reveal scrolls so that a line is visible, next to the given number of other lines.
func (v *viewport) reveal(line, others int) {
	room := max(1, v.height-others)
	v.top = max(line-room+1, min(v.top, line))
}

// seen returns the visible lines, with room for the given number of others.
func (v *viewport) seen(lines []string, others int) []string {
	room := max(1, v.height-others)
	v.top = max(0, min(v.top, len(lines)-room))
	return lines[v.top:min(len(lines), v.top+room)]
}
