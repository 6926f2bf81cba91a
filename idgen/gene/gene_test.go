package gene

import (
	"testing"

	"pgregory.net/rapid"
)

func TestGolden(t *testing.T) {
	if err := CheckGolden(); err != nil {
		t.Fatal(err)
	}
	// The table itself must be consistent: the gene follows from the two printed hashes.
	for _, v := range golden {
		h := v.xxhash ^ v.murmur
		if g := Gene(h) & W23.Last(); g != v.w23 {
			t.Errorf("owner %v: w23 %s, hashes say %s", v.owner, v.w23, g)
		}
		if v.w16 != v.w23&W16.Last() || v.w14 != v.w23&W14.Last() {
			t.Errorf("owner %v: narrower genes are not the low bits of %s", v.owner, v.w23)
		}
	}
}

func TestCheckGoldenRefuses(t *testing.T) {
	saved := golden[3]
	defer func() { golden[3] = saved }()

	golden[3].w16++
	if CheckGolden() == nil {
		t.Error("a changed gene passed")
	}
	golden[3] = saved
	golden[3].murmur++
	if CheckGolden() == nil {
		t.Error("a changed hash passed")
	}
}

func TestNarrowerGeneIsLowBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "owner")
		wide := OfBytes(b, W23)
		for _, w := range []Width{W14, W15, W16} {
			if g := OfBytes(b, w); g != wide&w.Last() {
				t.Fatalf("width %d: %s of %s", w, g, wide)
			}
		}
	})
}

func TestWidth(t *testing.T) {
	for w, last := range map[Width]Gene{W14: 0x3fff, W15: 0x7fff, W16: 0xffff, W23: 0x7fffff} {
		if !w.Valid() || w.Last() != last {
			t.Errorf("width %d: valid %v, last %s", w, w.Valid(), w.Last())
		}
	}
	for _, w := range []Width{0, 13, 17, 22, 24, 64, 255} {
		if w.Valid() {
			t.Errorf("width %d is valid", w)
		}
	}
}

func TestGenesDoNotAllocate(t *testing.T) {
	owner := []byte("a business key that is somewhat longer than two blocks")
	var sum Gene
	allocs := testing.AllocsPerRun(1000, func() {
		sum += OfInt(42, W16) + OfBytes(owner, W16)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkOfInt(b *testing.B) {
	b.ReportAllocs()
	var sum Gene
	for i := range b.N {
		sum += OfInt(int64(i), W16)
	}
	_ = sum
}

func BenchmarkOfBytes20(b *testing.B) {
	b.ReportAllocs()
	owner := []byte("customer-00000000042")
	var sum Gene
	for range b.N {
		sum += OfBytes(owner, W16)
	}
	_ = sum
}
