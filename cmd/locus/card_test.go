package main

import (
	"net"
	"strings"
	"testing"
	"time"

	"locus/config"
	"locus/control/fleet"
)

// Two runs of a process on the same host and port are two: what the one left behind
// at the shards is not the other's.
func TestEachRunHasAnIDOfItsOwn(t *testing.T) {
	c, err := config.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	listens := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4306}
	first, second := newCard(c, listens, time.Now()), newCard(c, listens, time.Now())
	if first.ID == second.ID || !strings.Contains(first.ID, ":4306-") || first.Addr != second.Addr {
		t.Errorf("%+v\n%+v", first, second)
	}
}

func TestCalled(t *testing.T) {
	cards := []fleet.Card{{ID: "a:4306-111111", Addr: "10.0.0.1:4306"}, {ID: "b:4306-222222"}, {ID: "b:4306-333333"}, {ID: "b:43060-444444"}, {ID: "old:4306"}}
	for name, want := range map[string]string{
		"a:4306": "a:4306-111111", "a:4306-111111": "a:4306-111111", "b:4306-333333": "b:4306-333333", "old:4306": "old:4306",
		"10.0.0.1:4306": "a:4306-111111",
		"a":             "", "b:4306": "", "b:430": "", "a:4306-": "",
	} {
		at, err := called(cards, name)
		switch {
		case want == "" && err == nil:
			t.Errorf("%s is %s", name, cards[at].ID)
		case want != "" && (err != nil || cards[at].ID != want):
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
