package orderid

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The residue is computed from the whole number, even if that needs more than 64 bits.
func TestResidueAgainstBigNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		p := drawParts(t, l)
		whole := new(big.Int).Lsh(new(big.Int).SetUint64(p.s.Hi), 64)
		whole.Or(whole, new(big.Int).SetUint64(p.s.Lo))
		want := Residue(whole.Mod(whole, big.NewInt(Modulus)).Uint64())
		if got := l.Residue(compose(t, l, p)); got != want {
			t.Fatalf("residue of sequence %s is %d, want %d", p.s, got, want)
		}
	})
}

// The residue does not depend on the gene and the key version. Consecutive IDs have all residues in turn.
func TestResiduesInTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		p := drawParts(t, l)
		p.s = Seq(rapid.Uint64Range(0, 1<<30).Draw(t, "sequence"))
		id := compose(t, l, p)
		if got, want := l.Residue(id), Residue(p.s.Lo%Modulus); got != want {
			t.Fatalf("residue of %s is %d, want %d", p.s, got, want)
		}
		if got, want := l.Residue(id.Plus(1)), (l.Residue(id)+1)%Modulus; got != want {
			t.Fatalf("the next one has residue %d, want %d", got, want)
		}
	})
}
