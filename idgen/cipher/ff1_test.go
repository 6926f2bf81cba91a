package cipher

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/orderid"
)

// hidingLayouts are the layouts with a key version.
func hidingLayouts() []orderid.Layout {
	var hiding []orderid.Layout
	for _, l := range orderid.Layouts() {
		if l.VersionBits() > 0 {
			hiding = append(hiding, l)
		}
	}
	return hiding
}

func drawID(t *rapid.T, l orderid.Layout) orderid.ID {
	raw := rapid.SliceOfN(rapid.Byte(), l.Bytes(), l.Bytes()).Draw(t, "ID")
	raw[0] &= 0x7f
	id, err := l.FromBytes(raw)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestFastAgainstPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(hidingLayouts()).Draw(t, "layout")
		size := rapid.SampledFrom([]int{16, 24, 32}).Draw(t, "key size")
		key := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "key")
		id := drawID(t, l)

		fast, err := newFF1(key)
		if err != nil {
			t.Fatal(err)
		}
		plain := plainFF1{key, 2}
		tweak := l.AppendBytes(nil, l.WithSequence(id, orderid.Sequence{}))[:8]
		want := plain.encrypt(tweak, sequenceBits(l, id))

		number := fast.hide(l, id)
		if got := sequenceBits(l, number); got != want {
			t.Fatalf("%s: fast %s, plain %s", l, got, want)
		}
		if back := fast.reveal(l, number); back != id {
			t.Fatalf("%s: %s is revealed as %s", l, id, back)
		}
		if l.Gene(number) != l.Gene(id) || l.Version(number) != l.Version(id) {
			t.Fatalf("%s: the clear bits changed: %s, %s", l, id, number)
		}
		// Decoding is a bijection too: every number decodes to some sequence.
		if again := fast.hide(l, fast.reveal(l, id)); again != id {
			t.Fatalf("%s: number %s is encoded back as %s", l, id, again)
		}
	})
}

// sequenceBits returns the sequence as a numeral string of radix 2.
func sequenceBits(l orderid.Layout, id orderid.ID) string {
	s := l.Sequence(id)
	n := new(big.Int).SetUint64(s.Hi)
	n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(s.Lo))
	return fmt.Sprintf("%0*s", l.SequenceBits(), n.Text(2))
}

func TestHidingDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops at random under the race detector")
	}
	ring := mustParse(t, twoKeys)
	for _, l := range hidingLayouts() {
		id, _ := l.Compose(7, 2, orderid.Seq(9))
		allocs := testing.AllocsPerRun(1000, func() {
			number, err := ring.Encode(l, id)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = ring.Decode(l, number)
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", l, allocs)
		}
	}
}

// A pair is one Encode and one Decode.
func BenchmarkPair(b *testing.B) {
	for _, size := range []int{16, 32} {
		for _, l := range []orderid.Layout{hidingLayouts()[0], hidingLayouts()[3]} {
			b.Run(fmt.Sprintf("aes%d/%s", size*8, l), func(b *testing.B) {
				key, err := newFF1(make([]byte, size))
				if err != nil {
					b.Fatal(err)
				}
				ring := &Ring{current: 1, keys: map[uint32]bijection{1: key}}
				first, _ := l.Compose(7, 1, orderid.Seq(1))
				b.ReportAllocs()
				for i := range b.N {
					number, err := ring.Encode(l, first.Plus(uint64(i)))
					if err != nil {
						b.Fatal(err)
					}
					if _, err := ring.Decode(l, number); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
