package catalog

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"locus/router/stmt"
)

// A look-up index hashes the normal form of a value. Values that the column's collation treats as equal have one normal form. The reverse
// isn't needed: values with one normal form may differ, because a look-up table also compares the values.
//
// The normal form of bytes, integers and texts in a binary collation is the value itself, without trailing spaces. In other collations it is
// made of the primary weights of the characters. For printable ASCII characters the proxy knows them: a letter has the weight of its lower
// case. For other texts it asks a server for the weights, by WEIGHT_STRING, and writes the weight of an ASCII character as that character.
// Servers never change the weights of a collation, since their own indexes are sorted by them.

// primaryWeights are the collations, without the character set in front, whose weights are known to have this form: one weight for each
// printable ASCII character, the same in both letter cases, and no contraction of such characters.
var primaryWeights = []string{
	"general_ci", "general_nopad_ci", "unicode_ci", "unicode_nopad_ci", "unicode_520_ci", "unicode_520_nopad_ci",
	"0900_ai_ci", "0900_as_ci", "0900_as_cs", "uca1400_ai_ci", "uca1400_nopad_ai_ci",
}

// binary reports whether equal values have equal bytes, apart from trailing spaces.
func (c *Column) binary() bool {
	return c.IsBinary() || c.IsText() && strings.HasSuffix(c.Collation, "_bin") && hashable[c.Charset]
}

// foldable returns why the values of a column have no normal form, or nil.
func (c *Column) foldable() error {
	_, collation, _ := strings.Cut(c.Collation, "_")
	switch {
	case c.Generated:
		return errors.New("is generated, so its values aren't known beforehand: index a plain column")
	case c.AutoIncrement:
		return errors.New("is AUTO_INCREMENT: UPDATE and DELETE find rows by it without an index")
	case c.DataType == "binary":
		return fmt.Errorf("is BINARY, which the server pads: make it VARBINARY(%d)", c.Length)
	case c.OnUpdate || c.DataType == "timestamp":
		return errors.New("gets its values from the server: index a plain column")
	case c.IsInteger(), c.binary():
	case !c.IsText():
		return fmt.Errorf("is %s: an indexed column is an integer, VARCHAR, CHAR or VARBINARY", c.SQLType())
	case !hashable[c.Charset] && c.Charset != "latin1":
		return fmt.Errorf("has the character set %s: an indexed column has utf8mb4, utf8mb3, ascii or latin1", c.Charset)
	case c.Collation == "latin1_swedish_ci":
	case !slices.Contains(primaryWeights, collation):
		return fmt.Errorf("has the collation %s, whose weights locus doesn't know: an indexed column has a _bin, general_ci, unicode_ci, 0900 or uca1400_ai_ci collation without a language", c.Collation)
	}
	return nil
}

// Indexable returns the value that an INSERT or UPDATE stores in the column, as a look-up index uses it. A NULL is returned as it is. The
// error says why the value isn't known beforehand, for the end of a sentence that begins with the column.
func (c *Column) Indexable(v stmt.Value) (stmt.Value, error) {
	switch v.Kind {
	case stmt.Null:
		if !c.Nullable {
			return v, errNull
		}
		return v, nil
	case stmt.Default, stmt.Unknown, stmt.Temporal:
		return v, errExpr
	case stmt.Int, stmt.Uint, stmt.Decimal, stmt.Float, stmt.String, stmt.Bytes:
	}
	if c.IsInteger() {
		n, ok := v.Integer()
		switch {
		case !ok:
			return v, fmt.Errorf("is no plain integer (%s)", v)
		case !c.holds(n):
			return v, errRange
		}
		return n, nil
	}
	text := v.Text
	if v.Kind == stmt.Bytes && c.IsText() && !hashable[c.Charset] {
		return v, fmt.Errorf("is bytes for a %s column of character set %s; give it as a text", c.DataType, c.Charset)
	}
	if v.Kind != stmt.String && v.Kind != stmt.Bytes {
		stored, ok := v.Stored()
		if !ok {
			return v, fmt.Errorf("is a number for a %s column; quote it", c.DataType)
		}
		text = stored
	}
	if c.IsText() {
		if !utf8.Valid(text) {
			return v, errors.New("is not text in utf8mb4")
		}
		if r, ok := beyondCharset(text, c.Charset); ok {
			return v, fmt.Errorf("has the character %q, which character set %s does not have", r, c.Charset)
		}
	}
	if c.DataType == "char" { // servers remove trailing spaces, which a NO PAD collation compares
		text = trimSpaces(text)
	}
	if c.length(text) > c.Length {
		return v, fmt.Errorf("is longer than the column's %d characters", c.Length)
	}
	return stmt.Value{Kind: stmt.String, Text: text}, nil
}

// Sought returns a value that a statement compares with the column, in the form that a look-up index uses. ok is false if the
// servers may compare it as another type than the column's.
func (c *Column) Sought(v stmt.Value) (sought stmt.Value, ok bool) {
	switch {
	case c.IsInteger() && (v.Kind == stmt.Int || v.Kind == stmt.Uint):
		return v, c.holds(v)
	case c.IsText() && v.Kind == stmt.String:
		_, beyond := beyondCharset(v.Text, c.Charset)
		return stmt.Value{Kind: stmt.String, Text: v.Text}, utf8.Valid(v.Text) && !beyond
	case c.IsBinary() && (v.Kind == stmt.Bytes || v.Kind == stmt.String):
		return stmt.Value{Kind: stmt.String, Text: v.Text}, true
	}
	return v, false
}

// Normal appends the normal form of a value that Indexable or Sought has returned. known is false if a server must be asked for it, by
// [Column.WeightsQuery].
func (c *Column) Normal(dst []byte, v stmt.Value) (normal []byte, known bool) {
	if v.Kind != stmt.String {
		return append(dst, v.String()...), true
	}
	text := v.Text
	if c.IsBinary() {
		return append(dst, text...), true
	}
	text = trimSpaces(text)
	if c.binary() {
		return append(dst, text...), true
	}
	for _, b := range text {
		if b < ' ' || b > '~' {
			return dst, false
		}
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		dst = append(dst, b)
	}
	return dst, true
}

// printable contains the printable ASCII characters.
var printable = func() []byte {
	var all []byte
	for c := byte(' '); c <= '~'; c++ {
		all = append(all, c)
	}
	return all
}()

// WeightsQuery returns the query for the weights of a text of the column, and for the weights of the printable ASCII
// characters. [Column.NormalByWeights] reads its answer.
func (c *Column) WeightsQuery(text []byte) string {
	weights := func(text []byte) string {
		return fmt.Sprintf("HEX(WEIGHT_STRING(CONVERT(_utf8mb4 x'%x' USING %s) COLLATE %s))", text, c.Charset, c.Collation)
	}
	return "SELECT " + weights(trimSpaces(text)) + ", " + weights(printable)
}

// NormalByWeights appends the normal form that follows from the answer to [Column.WeightsQuery].
func (c *Column) NormalByWeights(dst, weights, ofPrintable []byte) ([]byte, error) {
	text, err := primary(weights)
	if err != nil {
		return dst, err
	}
	known, err := primary(ofPrintable)
	if err != nil {
		return dst, err
	}
	size := len(known) / len(printable)
	if size == 0 || size > 2 || len(known) != size*len(printable) || len(text)%size != 0 {
		return dst, fmt.Errorf("weights of collation %s have %d bytes for %d characters", c.Collation, len(known), len(printable))
	}
	character := make(map[string]byte, len(printable))
	for i, b := range printable {
		if 'A' <= b && b <= 'Z' {
			continue
		}
		character[string(known[i*size:(i+1)*size])] = b
	}
	from := len(dst)
	for weight := range slices.Chunk(text, size) {
		if b, is := character[string(weight)]; is {
			dst = append(dst, b)
		} else {
			dst = append(append(dst, 0), weight...)
		}
	}
	return append(dst[:from], bytes.TrimRight(dst[from:], " ")...), nil
}

// primary returns the primary weights in the answer of WEIGHT_STRING. If a collation has several levels, a weight of zero separates them.
func primary(text []byte) ([]byte, error) {
	weights := make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(weights, text); err != nil {
		return nil, fmt.Errorf("weights of a text: %w", err)
	}
	for i := 0; i+1 < len(weights); i += 2 {
		if weights[i] == 0 && weights[i+1] == 0 {
			return weights[:i], nil
		}
	}
	return weights, nil
}
