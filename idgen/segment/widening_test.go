package segment

import (
	"errors"
	"testing"

	"locus/idgen"
	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// A sequence starts near its end. A column of 8 bytes refuses further IDs. A column of both lengths continues
// with 16 bytes, and each ID is read by its length.
func TestOverflow(t *testing.T) {
	end := layoutNamed(t, "int64").MaxSequence().Lo
	issuer := func(name string, bound uint64) *idgen.Issuer {
		s, err := New(&granting{bound: map[string]uint64{"g/00000": bound}}, layoutNamed(t, name), Options{Groups: 1, MinStep: 7, MaxStep: 7})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close(t.Context()) })
		i, err := idgen.NewIssuer(layoutNamed(t, name), 0, s)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	bigint := issuer("int64", end-20)
	for n := uint64(0); n < 20; n++ {
		id, err := bigint.Issue(t.Context(), 7, 1)
		if want := end - 19 + n; err != nil || layoutNamed(t, "int64").Sequence(id).Lo != want {
			t.Fatalf("%s, %v, want sequence %d", id, err, want)
		}
	}
	for range 3 {
		if id, err := bigint.Issue(t.Context(), 7, 1); !errors.Is(err, orderid.ErrSequenceExhausted) {
			t.Fatalf("BIGINT went on with %s, %v", id, err)
		}
	}

	w, err := idgen.NewWidening(issuer("int64", end-20), issuer("bytes16", 0))
	if err != nil {
		t.Fatal(err)
	}
	seen, lengths := map[string]bool{}, map[int]int{}
	owner := gene.OfInt(42, gene.W23)
	for range 40 {
		l, id, err := w.Issue(t.Context(), owner, 1)
		if err != nil {
			t.Fatal(err)
		}
		stored := l.AppendBytes(nil, id)
		if seen[string(stored)] {
			t.Fatalf("%x twice", stored)
		}
		seen[string(stored)] = true
		lengths[len(stored)]++
		read, back, err := orderid.OfLength(layoutNamed(t, "int64"), stored)
		if err != nil || read != l || back != id {
			t.Fatalf("%x is read as %s of %s, %v", stored, back, read, err)
		}
		if g := read.Gene(back) & gene.W16.Last(); g != gene.OfInt(42, gene.W16) {
			t.Fatalf("%x leads to gene %s", stored, g)
		}
	}
	if lengths[8] != 20 || lengths[16] != 20 {
		t.Errorf("%v", lengths)
	}
	for _, n := range []int{0, 7, 9, 15, 17} {
		if _, _, err := orderid.OfLength(layoutNamed(t, "int64"), make([]byte, n)); err == nil {
			t.Errorf("%d bytes are an ID", n)
		}
	}
}
