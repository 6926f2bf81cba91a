package main

import "testing"

// The vectors of docs/internals/ids.md.
func TestGeneVectors(t *testing.T) {
	for uid, gene := range map[int64]uint64{0: 0xd870, 1: 0x5ddf, 42: 0x3eab, -1: 0x2bba, 10001: 0xc3fe} {
		if got := geneOf(uid); got != gene {
			t.Errorf("gene of %d is %#04x, not %#04x", uid, got, gene)
		}
	}
}

func TestCastIsDisjointAndAtHome(t *testing.T) {
	const last = 0x7fff
	c := newCast(last)
	if len(c.readers)+len(c.others) != readers || len(c.writers) != writers {
		t.Fatalf("%d + %d readers, %d writers", len(c.readers), len(c.others), len(c.writers))
	}
	orders := map[int64]bool{}
	for _, home := range [][]owner{c.readers, c.writers, {c.bigBuyer}} {
		for _, o := range home {
			if o.gene > last {
				t.Errorf("buyer %d of gene %#04x is not at home on s0", o.uid, o.gene)
			}
			if orders[o.order] {
				t.Errorf("order %d twice", o.order)
			}
			orders[o.order] = true
			if o.order < 0 || uint64(o.order)>>(sequenceBits+versionBits) != o.gene {
				t.Errorf("order %d does not begin with gene %#04x", o.order, o.gene)
			}
		}
	}
	for _, o := range c.others {
		if o.gene <= last {
			t.Errorf("buyer %d of gene %#04x is at home on s0", o.uid, o.gene)
		}
	}
}

func TestOrderNumberIsABijectionThatKeepsTheGene(t *testing.T) {
	o, seen := newOwner(firstReader, 0), map[int64]bool{}
	for i := range int64(10_000) {
		id := o.orderID(freshSequences + i)
		no := orderNumber(id)
		if seen[no] || no>>sequenceBits != id>>sequenceBits {
			t.Fatalf("order number %d of order %d: repeated, or with other clear bits", no, id)
		}
		seen[no] = true
	}
}
