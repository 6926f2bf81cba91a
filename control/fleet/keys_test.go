package fleet_test

import (
	"strings"
	"testing"

	"locus/control/fleet"
)

// Each showing is a write to etcd: a card is shown when it has changed, and at no other time.
func TestACardIsShownWhenItHasChanged(t *testing.T) {
	var shown []string
	s := fleet.Show(fleet.Card{ID: "a"}, func(text []byte) { shown = append(shown, string(text)) })
	for _, version := range []int64{0, 1, 1, 2, 1} {
		s.Change(func(c *fleet.Card) { c.MapVersion = version })
	}
	if len(shown) != 3 || !strings.Contains(shown[2], `"map_version":1,`) {
		t.Errorf("shown: %s", shown)
	}
}
