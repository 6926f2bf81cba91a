package catalog

import (
	"fmt"
	"strconv"

	"locus/idgen/gene"
	"locus/router/stmt"
)

// GeneDigits returns how many hexadecimal digits a gene of that width has in a text.
func GeneDigits(w gene.Width) int { return (int(w) + 3) / 4 }

// ofGeneText returns the gene that a text contains. If a text contains none, the result is Anywhere, because rows that no
// proxy wrote may be equal to it.
func (k *Key) ofGeneText(v stmt.Value) (gene.Gene, Match) {
	if v.Kind != stmt.String && (v.Kind != stmt.Bytes || !k.Column.IsBinary()) {
		return 0, Anywhere
	}
	g, ok := k.shown(v.Text, k.width)
	if !ok {
		return 0, Anywhere
	}
	return g, Here
}

func (k *Key) storedGeneText(text []byte, w gene.Width) (gene.Gene, error) {
	if w != k.width {
		return 0, fmt.Errorf("shows a gene of %d bits", k.width)
	}
	g, ok := k.shown(text, w)
	switch {
	case !ok:
		return 0, fmt.Errorf("does not show a gene of %d bits: it is ASCII, and has %d hexadecimal digits from character %d on", w, GeneDigits(w), k.At+1)
	case k.Column.length(text) > k.Column.Length:
		return 0, fmt.Errorf("is longer than the column's %d characters", k.Column.Length)
	}
	return g, nil
}

// shown reads the gene of a text. ok is false if the text has other characters than printable ASCII, since a collation can take
// those for none or for several.
func (k *Key) shown(text []byte, w gene.Width) (g gene.Gene, ok bool) {
	end := k.At + GeneDigits(w)
	if len(text) < end {
		return 0, false
	}
	for _, c := range text {
		if c < ' ' || c > '~' {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(text[k.At:end]), 16, 32)
	if err != nil || n > uint64(w.Last()) {
		return 0, false
	}
	return gene.Gene(n), true
}

// geneText checks the column of texts that show the gene.
func (r *resolver) geneText() {
	d := r.t.GeneText
	if d == nil {
		return
	}
	c, _ := r.column(d.Column, Text.String())
	switch {
	case c == nil || !r.checkWritable(c):
	case !c.IsText() && c.DataType != "varbinary":
		r.refuse(c.Name, "a text with the gene is VARCHAR, CHAR or VARBINARY, not %s", c.SQLType())
	case d.At-1+GeneDigits(r.t.Width) > c.Length:
		r.refuse(c.Name, "a gene at position %d has %d digits, and this is %s: use a longer column", d.At, GeneDigits(r.t.Width), c.SQLType())
	default:
		r.add(Key{Role: Text, Column: c, At: d.At - 1})
	}
}
