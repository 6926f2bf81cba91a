package idgen_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"locus/idgen"
	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// inMemory is a source of sequences for an example: it forgets everything when
// the process ends. Package segment has the one to use.
type inMemory struct{ taken atomic.Uint64 }

func (m *inMemory) Take(_ context.Context, _ gene.Gene, n int) (uint64, error) {
	return m.taken.Add(uint64(n)) - uint64(n) + 1, nil
}

const keyRing = `
current: 1
keys:
  - version: 1
    key: 2b7e151628aed2a6abf7158809cf4f3c
`

// A buyer's order gets an ID that contains the gene of its row, and a number for the parcel that reveals only
// the gene.
func Example() {
	layout, err := orderid.ByName("int64")
	if err != nil {
		panic(err)
	}
	ring, err := cipher.Parse([]byte(keyRing))
	if err != nil {
		panic(err)
	}
	issuer, err := idgen.NewIssuer(layout, ring.Current(), &inMemory{})
	if err != nil {
		panic(err)
	}

	buyer := gene.OfInt(42, layout.GeneWidth())
	first, err := issuer.Issue(context.Background(), buyer, 2)
	if err != nil {
		panic(err)
	}
	for _, id := range []orderid.ID{first, first.Plus(1)} {
		number, err := ring.Encode(layout, id)
		if err != nil {
			panic(err)
		}
		fmt.Println("order ID", id, "order number", number, "both of gene", layout.Gene(number))
	}
	// Output:
	// order ID 2257855923731038209 order number 2257858957212647152 both of gene 0x3eab
	// order ID 2257855923731038210 order number 2257859255480373457 both of gene 0x3eab
}
