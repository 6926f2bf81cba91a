package orderid

import (
	"errors"
	"strings"
	"testing"

	"locus/idgen/gene"
)

func TestComposeRefuses(t *testing.T) {
	for _, v := range []struct {
		layout  string
		gene    gene.Gene
		version uint32
		seq     Sequence
		want    string
	}{
		{"int64", 0x10000, 0, Seq(1), "compose ID: gene 0x010000 is beyond 0xffff, the last one of layout int64"},
		{"int64-14", 0x4000, 0, Seq(1), "compose ID: gene 0x4000 is beyond 0x3fff, the last one of layout int64-14"},
		{"int64", 1, 32, Seq(1), "compose ID: key version 32 is beyond 31, the last one of layout int64"},
		{"plain64", 1, 1, Seq(1), "compose ID: layout plain64 has no bits for key version 1: use version 0, or layout int64"},
		{"int64", 1, 1, Seq(1 << 42), "compose ID: sequence 4398046511104: sequence exhausted: layout int64 ends at sequence 4398046511103: " +
			"move the table to layout bytes16 (BINARY(16)), whose sequence has 84 bits"},
		{"js53", 1, 0, Seq(1 << 37), "compose ID: sequence 137438953472: sequence exhausted: layout js53 ends at sequence 137438953471: " +
			"move the table to layout int64 (drivers must then read IDs as strings) or bytes16"},
		{"int64", 1, 1, Sequence{1, 0}, "compose ID: sequence 0x00000000000000010000000000000000: sequence exhausted: layout int64 ends at " +
			"sequence 4398046511103: move the table to layout bytes16 (BINARY(16)), whose sequence has 84 bits"},
		{"bytes16", 1, 1, Sequence{1 << 20, 0}, "compose ID: sequence 0x00000000001000000000000000000000: sequence exhausted: layout bytes16 ends at " +
			"sequence 0x00000000000fffffffffffffffffffff: no wider layout exists; rows must go to a new table with counters of its own"},
	} {
		_, err := layoutNamed(t, v.layout).Compose(v.gene, v.version, v.seq)
		if err == nil || err.Error() != v.want {
			t.Errorf("%s: %v", v.layout, err)
		}
		var exhausted *ExhaustedError
		if isSeq := strings.Contains(v.want, "exhausted"); isSeq != errors.Is(err, ErrSequenceExhausted) || isSeq != errors.As(err, &exhausted) {
			t.Errorf("%v: matched wrongly", err)
		}
	}
	if _, err := (Layout{}).Compose(0, 0, Seq(1)); err == nil {
		t.Error("the zero Layout composed an ID")
	}
}

func TestByName(t *testing.T) {
	for _, l := range Layouts() {
		if got, err := ByName(l.Name()); err != nil || got != l {
			t.Errorf("%s: %v, %v", l, got, err)
		}
		if !l.GeneWidth().Valid() || l.GeneBits() != int(l.GeneWidth()) {
			t.Errorf("%s: gene of %d bits", l, l.GeneBits())
		}
	}
	want := `no layout is named "int32": choose one of int64, int64-15, int64-14, plain64, js53, bytes16`
	if _, err := ByName("int32"); err == nil || err.Error() != want {
		t.Error(err)
	}
}

func TestNotAnID(t *testing.T) {
	id := func(_ ID, err error) error { return err }
	for name, err := range map[string]error{
		"negative int64":     id(layoutNamed(t, "int64").FromInt(-1)),
		"top bit of int64":   id(layoutNamed(t, "int64").FromUint(1 << 63)),
		"bit 53 of js53":     id(layoutNamed(t, "js53").FromInt(1 << 53)),
		"integer of bytes16": id(layoutNamed(t, "bytes16").FromInt(1)),
		"8 bytes of bytes16": id(layoutNamed(t, "bytes16").FromBytes(make([]byte, 8))),
		"16 bytes of int64":  id(layoutNamed(t, "int64").FromBytes(make([]byte, 16))),
		"top bit of bytes16": id(layoutNamed(t, "bytes16").Parse("0x80000000000000000000000000000000")),
		"text":               id(layoutNamed(t, "int64").Parse("1e3")),
		"65 bits":            id(layoutNamed(t, "plain64").Parse("18446744073709551616")),
		"below int64":        id(layoutNamed(t, "plain64").Parse("-9223372036854775809")),
		"open quote":         id(layoutNamed(t, "bytes16").Parse("X'00")),
		"bare hex":           id(layoutNamed(t, "bytes16").Parse("7ac3fe12345abcde123456789abcdef0")),
	} {
		if err == nil {
			t.Errorf("%s was read", name)
		} else if !strings.Contains(err.Error(), "not an ID of layout") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPlain64HasTwoSpellings(t *testing.T) {
	l := layoutNamed(t, "plain64")
	signed, err1 := l.Parse("-4324018592229097471")
	unsigned, err2 := l.Parse("14122725481480454145")
	if err1 != nil || err2 != nil || signed != unsigned {
		t.Errorf("%s, %s, %v, %v", signed, unsigned, err1, err2)
	}
}

func TestPlusCarries(t *testing.T) {
	if got := (ID{7, ^uint64(0)}).Plus(2); got != (ID{8, 1}) {
		t.Error(got)
	}
}

func TestGeneRangeBeyondTheLayout(t *testing.T) {
	l := layoutNamed(t, "int64-14")
	if lo, hi := l.GeneRange(0x4000, 0x5000); lo.Compare(hi) <= 0 {
		t.Errorf("IDs %s..%s of genes that do not exist", lo, hi)
	}
	if _, hi := l.GeneRange(0, 0xffff); hi.Lo != 1<<63-1 {
		t.Errorf("the last ID is %s", hi)
	}
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 64)
	for _, l := range Layouts() {
		allocs := testing.AllocsPerRun(100, func() {
			id, _ := l.Compose(7, 0, Seq(9))
			_ = l.Gene(id)
			_ = l.GeneUint(id.Lo)
			_ = l.AppendSQL(buf, id)
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", l, allocs)
		}
	}
}

func BenchmarkCompose(b *testing.B) {
	l := layoutNamed(b, "int64")
	b.ReportAllocs()
	var sum uint64
	for i := range b.N {
		id, err := l.Compose(7, 1, Seq(uint64(i)))
		if err != nil {
			b.Fatal(err)
		}
		sum += id.Lo
	}
	_ = sum
}

func BenchmarkGeneUint(b *testing.B) {
	l := layoutNamed(b, "int64")
	var sum gene.Gene
	for i := range b.N {
		sum += l.GeneUint(uint64(i))
	}
	_ = sum
}
