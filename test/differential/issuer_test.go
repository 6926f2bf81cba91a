package differential

import (
	"fmt"
	"strings"
	"testing"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// issuer makes IDs for statements, so that both sides store the same ones. Its sequence begins far above the
// proxy's.
type issuer struct {
	ring   *cipher.Ring
	layout orderid.Layout
	next   uint64
}

func newIssuer(t *testing.T, ring *cipher.Ring) *issuer {
	layout, err := orderid.ByName("int64")
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{ring: ring, layout: layout, next: 1 << 30}
}

// of returns an ID with a gene, and its order number.
func (i *issuer) of(g gene.Gene) (id, number string) {
	i.next++
	composed, err := i.layout.Compose(g, i.ring.Current(), orderid.Seq(i.next))
	if err != nil {
		panic(err)
	}
	hidden, err := i.ring.Encode(i.layout, composed)
	if err != nil {
		panic(err)
	}
	return fmt.Sprint(composed.Lo), fmt.Sprint(hidden.Lo)
}

// number returns a unique number for a table that the cluster numbers. It is far above the previous one,
// because the cluster continues above it.
func (i *issuer) number() string {
	i.next++
	return fmt.Sprint(i.next * 1000)
}

func geneOfOwner(owner int64) gene.Gene { return gene.OfInt(owner, gene.W16) }

func geneOfWho(who string) gene.Gene {
	return gene.OfBytes([]byte(strings.TrimRight(who, " ")), gene.W16)
}

func (i *issuer) geneOfID(id int64) gene.Gene { return i.layout.GeneUint(uint64(id)) }

// some returns an ID for a LAST_INSERT_ID().
func (i *issuer) some(g *generator) int64 {
	if held := g.held["account.id"]; len(held) > 0 {
		var id int64
		_, _ = fmt.Sscan(pick(g, held), &id)
		return id
	}
	return 42
}
