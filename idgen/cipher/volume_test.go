package cipher

import (
	"math"
	"math/rand/v2"
	"testing"

	"locus/idgen/orderid"
)

// The statement of [StillTold] about a cipher is true: from twelve numbers of one gene, one can estimate how
// many orders lie between the first and the last.
func TestWhatNumbersStillTell(t *testing.T) {
	ring := mustParse(t, allCiphers)
	l := layoutNamed(t, "int64")
	const orders = 40_000_000
	for _, version := range []uint32{1, 2, 3} {
		random := rand.New(rand.NewPCG(7, uint64(version)))
		numbers := make([]float64, 0, 12)
		for n := range 12 {
			at := uint64(1_000_000 + n*orders/11 + random.IntN(1000))
			id, err := l.Compose(0x3eab, version, orderid.Seq(at))
			if err != nil {
				t.Fatal(err)
			}
			number, err := ring.Encode(l, id)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, float64(l.Sequence(number).Lo))
		}
		guess := numbers[len(numbers)-1] - numbers[0]
		off := math.Abs(guess-orders) / orders
		name := ring.Cipher(version)
		if told := StillTold(name) != ""; told != (off < 0.002) {
			t.Errorf("%s: the estimate is off by %.2f %%, and what numbers still tell is %q", name, 100*off, StillTold(name))
		}
	}
}
