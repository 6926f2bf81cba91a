package differential

import (
	"testing"

	"locus/test/servers"
)

// What the plain server says in no way stays a difference; what it says in another
// way, or of a part of a statement that is wrong twice, is none.
func TestUndecided(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		p := newPair(t, engine)
		p.fill(p.generator(3))
		s := &statement{root: all("SELECT COUNT(*) FROM account WHERE small > ", value{text: "0", param: int64(0), bound: true}), prepared: true}
		plain := ask(t.Context(), p.direct, s, true)
		if plain.err != nil {
			t.Fatal(plain.err)
		}
		if !p.undecided(s, plain, plain) {
			t.Errorf("%s: the plain server's own answer is in none of its ways", s)
		}
		other := &answer{columns: plain.columns, rows: []string{"-1"}}
		if p.undecided(s, other, plain) {
			t.Errorf("%s: -1 is said to be one of the answers", s)
		}

		twice := &statement{root: all("SELECT 1 FROM account WHERE ", list("", " AND ", all("nowhere = 1"), all("nofunction(small) = 1")))}
		plain = ask(t.Context(), p.direct, twice, true)
		for _, c := range []struct {
			number uint16
			want   bool
		}{{1305, true}, {1146, false}} {
			proxy := &answer{number: c.number, err: plain.err}
			if plain.number != 1054 || p.undecided(twice, proxy, plain) != c.want {
				t.Errorf("%s: error %d beside the plain server's %d is undecided: %v, want %v", twice, c.number, plain.number, !c.want, c.want)
			}
		}
	})
}
