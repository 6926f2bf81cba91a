package main

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestQuickYieldsToWhatIsSet(t *testing.T) {
	o, err := parseOptions([]string{"-quick", "-rounds", "4"}, io.Discard)
	if err != nil || o.rounds != 4 || o.length != time.Second/2 || o.idle != 200 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestCommandNamesNoPath(t *testing.T) {
	o, err := parseOptions([]string{"-ready", "/home/me/r.json", "-o", "/home/me/x.md", "-rows", "INSERT.*8 c"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := o.command(), "go run ./test/bench -o FILE -ready FILE -rows='INSERT.*8 c'"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestRefusedOptions(t *testing.T) {
	for _, args := range []string{"-rounds 0", "-seconds 0", "-idle 0", "-last-gene 65536", "-engine oracle", "-rows (", "stray"} {
		if _, err := parseOptions(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%s: accepted", args)
		}
	}
}

func TestRowsAreDistinctAndSelectable(t *testing.T) {
	o, err := parseOptions([]string{"-rows", "^INSERT, prepared, 32"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	all, names := allRows(o), map[string]bool{}
	for _, r := range all {
		if names[r.name] {
			t.Errorf("two rows are called %q", r.name)
		}
		names[r.name] = true
	}
	if got := o.selected(all); len(got) != 1 || got[0].name != "INSERT, prepared, 32 clients" {
		t.Errorf("%v", got)
	}
}
