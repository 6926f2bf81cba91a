package repair

import (
	"strings"
	"testing"
)

// TestWhatIsDoneWithAStray combines every kind of stray row with every selection.
func TestWhatIsDoneWithAStray(t *testing.T) {
	version := func(n int64) *int64 { return &n }
	older := rows{owner: "a", stray: "b", versioned: true, ownersAt: version(3), straysAt: version(2)}
	younger := rows{owner: "a", stray: "b", versioned: true, ownersAt: version(2), straysAt: version(3)}
	same := rows{owner: "a", stray: "b", versioned: true, ownersAt: version(2), straysAt: version(2)}
	null := rows{owner: "a", stray: "b", versioned: true, ownersAt: version(2)}
	plain := rows{owner: "a", stray: "b"}
	for _, c := range []struct {
		name string
		take TakeStray
		of   rows
		want Deed
		why  string
	}{
		{"the same", "", rows{owner: "a", stray: "a"}, Delete, ""},
		{"the same, take misplaced", TakeMisplaced, rows{owner: "a", stray: "a"}, Delete, ""},
		{"none at the owner", "", rows{stray: "a"}, Bring, ""},
		{"none at the owner, take owner", TakeOwner, rows{stray: "a"}, Bring, ""},
		{"gone", TakeMisplaced, rows{owner: "a"}, Leave, "gone meanwhile"},
		{"gone from both", TakeOwner, rows{}, Leave, "gone meanwhile"},
		{"another, take nothing", "", plain, Leave, "use --take"},
		{"another, take owner", TakeOwner, plain, Delete, ""},
		{"another, take misplaced", TakeMisplaced, plain, Replace, ""},
		{"no version", TakeNewer, plain, Leave, "no version column"},
		{"older", TakeNewer, older, Delete, ""},
		{"newer", TakeNewer, younger, Replace, ""},
		{"of one version", TakeNewer, same, Leave, "the same version 2"},
		{"without a version", TakeNewer, null, Leave, "a version is NULL"},
	} {
		if got, why := c.take.decide(c.of); got != c.want || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, got, why, c.want, c.why)
		}
	}
}

// TestWhatIsDoneWithARow: equal rows stay unchanged, and so does a row that differs from the one that the
// operator saw.
func TestWhatIsDoneWithARow(t *testing.T) {
	for _, c := range []struct {
		name          string
		change        Change
		winner, loser string
		want          Kind
	}{
		{"as it was seen", Change{Winner: "a", Loser: "b"}, "a", "b", Done},
		{"missing", Change{Winner: "a"}, "a", "", Done},
		{"too much", Change{Loser: "b"}, "", "b", Done},
		{"equal", Change{Winner: "a", Loser: "b"}, "a", "a", Equal},
		{"equal, and another", Change{Winner: "a", Loser: "b"}, "c", "c", Equal},
		{"gone from both", Change{Winner: "a", Loser: "b"}, "", "", Equal},
		{"another at the winner", Change{Winner: "a", Loser: "b"}, "c", "b", Changed},
		{"none at the winner", Change{Winner: "a", Loser: "b"}, "", "b", Changed},
		{"another at the loser", Change{Winner: "a", Loser: "b"}, "a", "c", Changed},
		{"one at the loser", Change{Winner: "a"}, "a", "c", Changed},
		{"to be gone", Change{Winner: "a", Loser: "a", Gone: true}, "a", "a", Done},
		{"to be gone, the owner's as well", Change{Winner: "a", Loser: "a", Gone: true}, "", "a", Changed},
		{"to be gone, changed", Change{Winner: "a", Loser: "a", Gone: true}, "a", "b", Changed},
		{"gone", Change{Winner: "a", Loser: "a", Gone: true}, "a", "", Equal},
	} {
		if got := c.change.judge(c.winner, c.loser); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
