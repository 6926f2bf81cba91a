package docs

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/spaolacci/murmur3"
	"go.yaml.in/yaml/v4"

	"locus/idgen/cipher"
	"locus/idgen/format"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
	"locus/router/cluster"
)

const (
	idsDocument        = "docs/internals/ids.md"
	idsConcept         = "docs/concepts/ids.md"
	generatorsDocument = "docs/reference/generators.md"
)

func TestGeneVectors(t *testing.T) {
	document := read(t, idsDocument)
	for _, r := range tableOf(t, document, "owner", "xxhash64", "murmur64", "gene 14", "gene 16", "gene 23") {
		kind, value, _ := strings.Cut(r["owner"], " ")
		hashed := []byte(strings.Trim(value, "'"))
		var ofWidth func(gene.Width) gene.Gene
		switch kind {
		case "BIGINT":
			n := number(t, value)
			hashed = binary.LittleEndian.AppendUint64(nil, uint64(n))
			ofWidth = func(w gene.Width) gene.Gene { return gene.OfInt(n, w) }
		case "VARCHAR":
			ofWidth = func(w gene.Width) gene.Gene { return gene.OfBytes(hashed, w) }
		default:
			t.Fatalf("owner %q: neither BIGINT nor VARCHAR", r["owner"])
		}
		same(t, r["owner"], r["xxhash64"], fmt.Sprintf("%016x", xxhash.Sum64(hashed)))
		same(t, r["owner"], r["murmur64"], fmt.Sprintf("%016x", murmur3.Sum64(hashed)))
		for column, w := range map[string]gene.Width{"gene 14": gene.W14, "gene 16": gene.W16, "gene 23": gene.W23} {
			same(t, r["owner"]+", "+column, "0x"+r[column], ofWidth(w).Format(w))
		}
	}
}

func TestLayoutsAreAllDescribed(t *testing.T) {
	described := map[string]row{}
	for _, r := range tableOf(t, read(t, idsDocument), "layout", "bits from the top", "gene", "key version", "sequence", "bytes", "column") {
		described[code(r["layout"])] = r
	}
	for _, l := range orderid.Layouts() {
		r := described[l.Name()]
		if r == nil {
			t.Errorf("layout %s is not described", l)
			continue
		}
		for column, bits := range map[string]int{
			"gene": l.GeneBits(), "key version": l.VersionBits(), "sequence": l.SequenceBits(), "bytes": l.Bytes(),
		} {
			same(t, l.Name()+", "+column, r[column], strconv.Itoa(bits))
		}
	}
	if len(described) != len(orderid.Layouts()) {
		t.Errorf("%d layouts are described and %d exist", len(described), len(orderid.Layouts()))
	}
}

// TestThePictureOfAnID compares the picture with the layout: the bits and the width of each part, and its value in the ID above it.
func TestThePictureOfAnID(t *testing.T) {
	picture := drawn(t, "docs/pictures/id-bits.svg")
	id := uint64(number(t, picture["id"][0]))
	l := orderid.Layouts()[0]
	names, widths := []string{"zero", "gene", "key version", "sequence"}, []int{1, l.GeneBits(), l.VersionBits(), l.SequenceBits()}
	top := 63
	for i, name := range names {
		low := top - widths[i] + 1
		bits, width := fmt.Sprintf("bits %d–%d", top, low), fmt.Sprintf("%d bits wide", widths[i])
		if widths[i] == 1 {
			bits, width = fmt.Sprintf("bit %d", top), "1 bit wide"
		}
		same(t, "a name", picture["name"][i], name)
		same(t, name+", bits", picture["bits"][i], bits)
		same(t, name+", width", picture["width"][i], width)
		value, err := strconv.ParseUint(strings.TrimPrefix(picture["value"][i], "value "), 0, 64)
		if want := id >> low & (1<<widths[i] - 1); err != nil || value != want {
			t.Errorf("%s is drawn as %q, and is %#x", name, picture["value"][i], want)
		}
		top = low - 1
	}
}

// drawn returns the texts of a picture by each word of their class, or by their id.
func drawn(t *testing.T, path string) map[string][]string {
	t.Helper()
	texts := map[string][]string{}
	decoder := xml.NewDecoder(strings.NewReader(read(t, path)))
	var open [][]string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			var words []string
			for _, a := range token.Attr {
				if a.Name.Local == "class" || a.Name.Local == "id" {
					words = append(words, strings.Fields(a.Value)...)
				}
			}
			open = append(open, words)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" && len(open) > 0 {
				for _, word := range open[len(open)-1] {
					texts[word] = append(texts[word], text)
				}
			}
		}
	}
}

func TestLayoutVectors(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range tableOf(t, read(t, idsDocument), "layout", "gene", "key version", "sequence", "unsigned or binary", "signed", "bytes") {
		l, id := composed(t, r)
		seen[l.Name()] = true
		same(t, r["sequence"], code(r["unsigned or binary"]), string(l.AppendSQL(nil, id)))
		same(t, r["sequence"], code(r["signed"]), string(l.AppendSignedSQL(nil, id)))
		same(t, r["sequence"], code(r["bytes"]), hex.EncodeToString(l.AppendBytes(nil, id)))
	}
	if len(seen) != len(orderid.Layouts()) {
		t.Errorf("vectors of %d layouts of %d", len(seen), len(orderid.Layouts()))
	}
}

func TestOrderNumberVectors(t *testing.T) {
	document := read(t, idsDocument)
	ring, err := cipher.Parse([]byte(block(t, document, "yaml", "current:")))
	if err != nil {
		t.Fatalf("the ring of the example: %v", err)
	}
	for _, r := range tableOf(t, document, "layout", "gene", "key version", "sequence", "order ID", "order number") {
		l, id := composed(t, r)
		number, err := ring.Encode(l, id)
		if err != nil {
			t.Fatal(err)
		}
		same(t, r["order number"], code(r["order ID"]), string(l.AppendSQL(nil, id)))
		same(t, r["order ID"], code(r["order number"]), string(l.AppendSQL(nil, number)))
		if back, err := ring.Decode(l, number); err != nil || back != id {
			t.Errorf("%s decodes to %s, %v", r["order number"], back, err)
		}
	}
}

// A JavaScript number is a float64.
func TestJavaScriptRounding(t *testing.T) {
	const id = 2257855923731038209
	want := fmt.Sprintf("turns ID `%d` into `%.0f`", int64(id), float64(id))
	if !strings.Contains(read(t, idsConcept), want) {
		t.Errorf("%s does not say: %s", idsConcept, want)
	}
}

func composed(t *testing.T, r row) (orderid.Layout, orderid.ID) {
	t.Helper()
	l, err := orderid.ByName(code(r["layout"]))
	if err != nil {
		t.Fatal(err)
	}
	genes, err := gene.ParseRange(r["gene"], l.GeneWidth())
	if err != nil {
		t.Fatal(err)
	}
	id, err := l.Compose(genes.First, uint32(number(t, r["key version"])), orderid.Seq(uint64(number(t, r["sequence"]))))
	if err != nil {
		t.Fatal(err)
	}
	return l, id
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func same(t *testing.T, what, documented, computed string) {
	t.Helper()
	if documented != computed {
		t.Errorf("%s: the document says %s, the code %s", what, documented, computed)
	}
}

// TestGeneratorsCanBeDeclared checks that the documented declarations of generators are valid.
func TestGeneratorsCanBeDeclared(t *testing.T) {
	declared := map[string]cluster.Generator{}
	for _, text := range blocks(read(t, generatorsDocument), "yaml") {
		if !strings.Contains("\n"+text, "\ngenerators:") {
			continue
		}
		c, err := cluster.Parse([]byte("schema: 1\nshards:\n  s0: {address: 'a:1', user: u, secret: s}\n  s1: {address: 'b:1', user: u, secret: s}\n" +
			text + "\nroutes: [0x7fff s0, 0xffff s1]\n"))
		if err == nil {
			_, err = cluster.Succeed(nil, c, router.Stamp{})
		}
		if err != nil {
			t.Errorf("%v in\n%s", err, text)
			continue
		}
		maps.Copy(declared, c.Generators)
	}
	for _, name := range []string{"ticket", "voucher", "invoice", "letters", "bill"} {
		if declared[name].Kind == "" {
			t.Errorf("no block of %s declares %s", generatorsDocument, name)
		}
	}
}

func TestHiddenSequenceVectors(t *testing.T) {
	document := read(t, generatorsDocument)
	ring, err := cipher.Parse([]byte(block(t, read(t, idsDocument), "yaml", "current:")))
	if err != nil {
		t.Fatal(err)
	}
	var declared struct{ Generators map[string]cluster.Generator }
	if err := yaml.Unmarshal([]byte(block(t, document, "yaml", "generators:\n  waybill:")), &declared); err != nil {
		t.Fatal(err)
	}
	for _, r := range tableOf(t, document, "generator", "at", "context", "sequence", "text") {
		name := code(r["generator"])
		template, err := format.Parse(declared.Generators[name].Template, format.Parts())
		if err != nil {
			t.Fatal(err)
		}
		given := format.Values{Name: name, Hider: ring, Context: map[string]string{}}
		if r["at"] != "" {
			if given.Now, err = time.Parse("2006-01-02 15:04:05.000", r["at"]); err != nil {
				t.Fatal(err)
			}
		}
		if value, is := strings.CutPrefix(code(r["context"]), "shop="); is {
			given.Context["shop"] = value
		}
		sequence := uint64(number(t, r["sequence"]))
		text, err := template.Make(t.Context(), func(context.Context, format.Scope) (uint64, error) { return sequence, nil }, given)
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, code(r["text"]), text)
		if _, back, err := template.Read(text, given); err != nil || back != sequence {
			t.Errorf("%s is read as %d, %v, want %d", text, back, err, sequence)
		}
	}
}
