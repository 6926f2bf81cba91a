package twophase

import (
	"math"
	"strings"
	"testing"

	"locus/router"
)

// mostXID is the most bytes that a gtrid, and a bqual, can have.
const mostXID = 64

const holder = "0123456789abcdef"

func TestNamesFit(t *testing.T) {
	home := router.ShardName("s" + strings.Repeat("0", 62))
	if err := home.Validate(); err != nil {
		t.Fatal(err)
	}
	n := newNames(strings.Repeat("c", 63), holder)
	n.last.Store(math.MaxUint64 - 1)
	name := n.next(home)
	if len(name.Transaction) > mostXID || len(name.Home) > mostXID {
		t.Errorf("%d and %d bytes; %d are allowed", len(name.Transaction), len(name.Home), mostXID)
	}
	if got, ok := n.parse(recovered(name)); !ok || got != name {
		t.Errorf("read back as %v, %v; it was %v", got, ok, name)
	}
	if got, ok := n.holder(name.Transaction); !ok || got != holder {
		t.Errorf("it is %q's, %v; want %q's", got, ok, holder)
	}
	if got, ok := n.holder(n.cluster + "5b6e0ff9a3c15fc3-8"); ok {
		t.Errorf("an older version's is %q's", got)
	}
}

func TestBranchesOfOthersAreLeftAlone(t *testing.T) {
	ours := newNames("main", holder)
	other := newNames("other", holder).next("s0")
	foreign := recovered(ours.next("s0"))
	foreign[0] = []byte("1")
	short := recovered(ours.next("s0"))
	short[1] = []byte("999")
	for what, row := range map[string][][]byte{
		"another cluster's": recovered(other), "another format": foreign, "a length beyond the end": short,
		"no home": recovered(Name{ours.next("s0").Transaction, ""}), "too few columns": {[]byte("1")},
	} {
		if n, ok := ours.parse(row); ok {
			t.Errorf("%s: taken for %v", what, n)
		}
	}
	if a, b := ours.next("s0"), ours.next("s0"); a == b {
		t.Errorf("%v twice", a)
	}
	if a, b := ours.next("s0").Transaction, newNames("main", holder).next("s0").Transaction; a[:50] == b[:50] {
		t.Errorf("two processes have the same names: %s", a)
	}
}
