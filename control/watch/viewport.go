package watch

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
)

// run has bubbletea draw a model until it quits, or ctx ends.
func run(ctx context.Context, m tea.Model, in io.Reader, out io.Writer) error {
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler()).Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil // by a signal
	}
	return err
}

// viewport is the part of a long page that a terminal shows.
type viewport struct {
	canvas Canvas
	height int
	top    int // lines that were scrolled away
}

// standard is what a terminal has that does not say.
func standard(c Canvas) viewport {
	c.Width, c.Colours = 80, true
	return viewport{canvas: c, height: 24}
}

func (v *viewport) resized(msg tea.WindowSizeMsg) { v.canvas.Width, v.height = msg.Width, msg.Height }

// scrolled moves by a key, if it is one for that; a page has so many lines less than the terminal.
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

// seen gives the lines that are shown where room is left for so many others.
func (v *viewport) seen(lines []string, others int) []string {
	room := max(1, v.height-others)
	v.top = max(0, min(v.top, len(lines)-room))
	return lines[v.top:min(len(lines), v.top+room)]
}
