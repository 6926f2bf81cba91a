package catalog

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"locus/idgen/gene"
	"locus/router/stmt"
)

var (
	errNull  = errors.New("is NULL")
	errExpr  = errors.New("is an expression that only a server can compute; give a value")
	errRange = errors.New("is out of the column's range")
)

// Stored returns the gene of the value that an INSERT would store. Unlike Of it never returns an uncertain result: a value that MySQL would
// change when it stores it is an error.
func (k *Key) Stored(v stmt.Value) (gene.Gene, error) { return k.StoredAs(v, k.width) }

// StoredAs is Stored for a gene of another width.
func (k *Key) StoredAs(v stmt.Value, w gene.Width) (gene.Gene, error) {
	switch v.Kind {
	case stmt.Null, stmt.Default:
		return 0, errNull
	case stmt.Unknown, stmt.Temporal:
		return 0, errExpr
	case stmt.Int, stmt.Uint, stmt.Decimal, stmt.Float, stmt.String, stmt.Bytes:
	}
	if k.Column.IsInteger() {
		return k.storedInteger(v, w)
	}
	if v.Kind != stmt.String && v.Kind != stmt.Bytes {
		text, ok := v.Stored()
		if !ok || k.isID() {
			return 0, fmt.Errorf("is a number for a %s column; quote it", k.Column.DataType)
		}
		v = stmt.Value{Kind: stmt.String, Text: text}
	}
	if k.Role == Text {
		return k.storedGeneText(v.Text, w)
	}
	if k.isID() {
		l, id, err := k.Read(v.Text)
		if err != nil {
			return 0, err
		}
		return l.Gene(id) & w.Last(), nil
	}
	return k.storedText(v.Text, w)
}

// storedText returns the hash of the text that the column contains after the server has stored it.
func (k *Key) storedText(text []byte, w gene.Width) (gene.Gene, error) {
	c := k.Column
	if c.PadSpace || c.DataType == "char" { // a server returns CHAR values without trailing spaces
		text = trimSpaces(text)
	}
	if !c.IsBinary() {
		if !utf8.Valid(text) {
			return 0, fmt.Errorf("is not text in utf8mb4")
		}
		if r, ok := beyondCharset(text, c.Charset); ok {
			return 0, fmt.Errorf("has the character %q, which character set %s does not have", r, c.Charset)
		}
	}
	if c.length(text) > c.Length {
		return 0, fmt.Errorf("is longer than the column's %d characters", c.Length)
	}
	return gene.OfBytes(text, w), nil
}

// inLatin1 are the characters of the character set latin1 beyond U+00FF. It is Windows-1252.
const inLatin1 = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"

// outsideLatin1 are the control characters in whose place latin1 has others.
const outsideLatin1 = "\u0080\u0082\u0083\u0084\u0085\u0086\u0087\u0088\u0089\u008a\u008b\u008c\u008e\u0091\u0092\u0093\u0094\u0095\u0096\u0097\u0098\u0099\u009a\u009b\u009c\u009e\u009f"

// beyondCharset returns a character that the character set lacks, which a server would replace or cut off at.
func beyondCharset(text []byte, charset string) (rune, bool) {
	last := rune(utf8.MaxRune)
	switch charset {
	case "latin1":
		for _, r := range string(text) {
			if r > 0xff && !strings.ContainsRune(inLatin1, r) || r <= 0xff && strings.ContainsRune(outsideLatin1, r) {
				return r, true
			}
		}
	case "ascii":
		last = 0x7f
	case "utf8mb3", "utf8":
		last = 0xffff
	}
	for _, r := range string(text) {
		if r > last {
			return r, true
		}
	}
	return 0, false
}

func (k *Key) storedInteger(v stmt.Value, w gene.Width) (gene.Gene, error) {
	n, ok := v.Integer()
	if !ok {
		return 0, fmt.Errorf("is no plain integer (%s)", v)
	}
	if !k.Column.holds(n) {
		return 0, errRange
	}
	switch k.Role {
	case Owner:
		return gene.OfInt(int64(n.Bits()), w), nil
	case Gene:
		if n.Bits() > uint64(w.Last()) {
			return 0, fmt.Errorf("is no gene of %d bits", w)
		}
		return gene.Gene(n.Bits()), nil
	case ID, Parent, OrderNumber, Text:
	}
	if !k.Layout.ValidUint(n.Bits()) {
		return 0, fmt.Errorf("is not an ID of layout %s", k.Layout.Name())
	}
	return k.Layout.GeneUint(n.Bits()) & w.Last(), nil
}
