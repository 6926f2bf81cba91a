package idgen

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// counting is one counter for all genes. next is the number that it returns next.
type counting struct {
	next uint64
	err  error
}

func (c *counting) Take(_ context.Context, _ gene.Gene, n int) (uint64, error) {
	first := c.next
	c.next += uint64(n)
	return first, c.err
}

func TestIssueConsecutive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(orderid.Layouts()).Draw(t, "layout")
		version := rapid.Uint32Range(0, l.MaxVersion()).Draw(t, "version")
		g := gene.Gene(rapid.Uint32Range(0, uint32(l.GeneWidth().Last())).Draw(t, "gene"))
		n := rapid.IntRange(1, 1000).Draw(t, "n")
		start := rapid.Uint64Range(1, 1<<36).Draw(t, "start")

		issuer, err := NewIssuer(l, version, &counting{next: start})
		if err != nil {
			t.Fatal(err)
		}
		first, err := issuer.Issue(context.Background(), g, n)
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(n) {
			want, err := l.Compose(g, version, orderid.Seq(start+i))
			if err != nil || first.Plus(i) != want {
				t.Fatalf("ID %d is %s, want %s, %v", i, first.Plus(i), want, err)
			}
		}
	})
}

func TestIssueRefuses(t *testing.T) {
	l, err := orderid.ByName("js53")
	if err != nil {
		t.Fatal(err)
	}
	const last = 1<<37 - 1
	down := errors.New("store is down")
	for name, v := range map[string]struct {
		source counting
		gene   gene.Gene
		n      int
		is     error
	}{
		"a run over the end":     {counting{next: last}, 1, 2, orderid.ErrSequenceExhausted},
		"a run beyond the end":   {counting{next: last + 1}, 1, 1, orderid.ErrSequenceExhausted},
		"a source without any":   {counting{next: 1, err: down}, 1, 1, down},
		"no ID":                  {counting{next: 1}, 1, 0, nil},
		"a gene too wide":        {counting{next: 1}, 0x10000, 1, nil},
		"a sequence 0":           {counting{next: 0}, 1, 1, nil},
		"a negative number of n": {counting{next: 1}, 1, -1, nil},
	} {
		issuer, err := NewIssuer(l, 0, &v.source)
		if err != nil {
			t.Fatal(err)
		}
		id, err := issuer.Issue(context.Background(), v.gene, v.n)
		if err == nil || id != (orderid.ID{}) || v.is != nil && !errors.Is(err, v.is) {
			t.Errorf("%s: %s, %v", name, id, err)
		}
	}
	issuer, _ := NewIssuer(l, 0, &counting{next: last - 1})
	if _, err := issuer.Issue(context.Background(), 1, 2); err != nil {
		t.Errorf("the last two sequences: %v", err)
	}
}

// bytes16 has room for the sum of a run, for which a uint64 has not.
func TestIssueRefusesARunThatWraps(t *testing.T) {
	l, _ := orderid.ByName("bytes16")
	issuer, err := NewIssuer(l, 0, &counting{next: ^uint64(0)})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := issuer.Issue(context.Background(), 1, 2); err == nil {
		t.Errorf("issued from %s", id)
	}
}

func TestNewIssuerRefuses(t *testing.T) {
	l, _ := orderid.ByName("int64")
	if _, err := NewIssuer(l, 32, &counting{}); err == nil {
		t.Error("a key version of 6 bits was accepted")
	}
	if _, err := NewIssuer(orderid.Layout{}, 0, &counting{}); err == nil {
		t.Error("the zero layout was accepted")
	}
}

func TestIssueDoesNotAllocate(t *testing.T) {
	l, _ := orderid.ByName("int64")
	issuer, err := NewIssuer(l, 1, &counting{next: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if n := testing.AllocsPerRun(1000, func() { _, _ = issuer.Issue(ctx, 7, 3) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
