package watch

import (
	"slices"
	"testing"
)

// Scrolling stops at the ends of a page, and a page that has become shorter stays visible.
func TestAViewportStaysOnItsPage(t *testing.T) {
	page := []string{"1", "2", "3", "4", "5", "6"}
	v := viewport{height: 4} // one line is used by the caller
	expect := func(what string, want ...string) {
		t.Helper()
		if got := v.seen(page, 1); !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", what, got, want)
		}
	}
	expect("at first", "1", "2", "3")
	v.scrolled("down", 1)
	expect("a line down", "2", "3", "4")
	v.scrolled("pgdown", 1)
	v.scrolled("pgdown", 1)
	expect("pages down", "4", "5", "6")
	v.scrolled("up", 1)
	expect("a line up from the end", "3", "4", "5")
	v.scrolled("pgup", 1)
	v.scrolled("pgup", 1)
	expect("pages up", "1", "2", "3")
	v.scrolled("pgdown", 1)
	page = page[:2]
	expect("shorter than the terminal", "1", "2")
	v.height = 1
	expect("a terminal without room", "1")
}
