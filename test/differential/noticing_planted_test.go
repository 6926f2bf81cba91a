//go:build planted

package differential

import (
	"strings"
	"testing"

	"locus/internal/test/servers"
)

// patience is the number of reads within which a bug must be noticed.
const patience = 20_000

// TestBugsAreNoticed runs TestNoticing with the bugs in the proxy.
func TestNoticing(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		if n, found := notices(t, engine, "none"); found != "" {
			t.Fatalf("read %d differs without any bug: %s", n, found)
		}
		for i, b := range bugs {
			if i > 0 && bugs[i-1].name == b.name {
				continue
			}
			t.Run(strings.ReplaceAll(b.name, " ", "-"), func(t *testing.T) {
				n, found := notices(t, engine, b.name)
				if found == "" {
					t.Errorf("%s, %s: %d reads are answered as if it weren't there", engine, b.name, n)
				}
				t.Logf("%s, %s: noticed by read %d: %s", engine, b.name, n, found)
			})
		}
	})
}

// notices runs reads with a bug until one differs, and returns their number.
func notices(t *testing.T, engine servers.Engine, bug string) (int, string) {
	p := newPair(t, engine) // the stand's plans may have been made without the bug, or with another one
	g := p.generator(1)
	p.fill(g)
	t.Setenv(plantedBug, bug)
	w := newWardrobe(p, 1)
	for n := range patience {
		s := g.read()
		w.dress(s)
		if difference, _, _ := p.both(s); difference != "" {
			return n + 1, difference + " differ: " + s.String()
		}
	}
	return patience, ""
}
