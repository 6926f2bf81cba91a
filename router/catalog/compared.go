package catalog

import (
	"unicode/utf8"

	"locus/idgen/gene"
	"locus/router/stmt"
)

// Of returns the gene that rows must have for `column = v` to be true. It is valid for <=> and for comparisons between two rows too. For lists see
// OfListed and OfInRows. The result is Anywhere if some server could find the comparison true for values that hash to other genes. Of allocates
// nothing.
//
// The rules of comparison were measured on MySQL 9.7 and MariaDB 10.11 (TestServersCompare repeats the measurement):
//
//   - Integers are compared as integers. But in a list of mixed types and in a list of rows, MySQL compares the 64 bits and ignores
//     which values are signed.
//   - A string that is an integer of the column is compared as that integer. Another string is compared as a double, or as the
//     integer that it converts to. Which one depends on the server, on the form of the condition and on whether the column has an
//     index. Below 2^53 the result is the same.
//   - Doubles are compared as doubles, or as the integer that they convert to.
//   - Decimals are compared as decimals, or as the BIGINT that they convert to.
//   - In some of the forms, both servers round a value with a fraction: on MySQL, (column, 1) IN ((0.5, 1)) finds 1.
func (k *Key) Of(v stmt.Value) (gene.Gene, Match) {
	switch {
	case v.Kind == stmt.Null:
		return 0, Nowhere
	case v.Kind == stmt.Unknown || v.Kind == stmt.Default || v.Kind == stmt.Temporal:
		return 0, Anywhere
	case k.Column.IsInteger():
		return k.ofInteger(v)
	case k.Role == Owner:
		return k.ofText(v)
	case k.Role == Text:
		return k.ofGeneText(v)
	}
	return k.ofBytes(v)
}

// Convertible reports whether v is a string that servers convert to an integer of the column. A list that contains only such strings is compared as
// integers, if all are literals or all are parameters.
func (k *Key) Convertible(v stmt.Value) bool {
	if v.Kind != stmt.String || !k.Column.IsInteger() {
		return false
	}
	n, ok := v.Integer()
	return ok && k.Column.holds(n)
}

// OfListed is Of for an element of a list, IN (v, …), of several values that are not all Convertible. MySQL compares the strings among them as
// doubles.
func (k *Key) OfListed(v stmt.Value) (gene.Gene, Match) {
	if n, ok := v.Integer(); ok && v.Kind == stmt.String && k.Column.IsInteger() && beyondDouble(n) {
		return k.ofBlurred(n)
	}
	return k.Of(v)
}

// OfInRows is Of for an element of a list of rows, (column, …) IN ((v, …), …). If one of the elements is a double, or a string next to a decimal,
// MariaDB compares all of them as doubles.
func (k *Key) OfInRows(v stmt.Value) (gene.Gene, Match) {
	n, ok := v.Integer()
	switch {
	case !ok || !k.Column.IsInteger() || !beyondDouble(n):
		return k.Of(v)
	case v.Kind == stmt.Decimal && n.Kind == stmt.Uint:
		return 0, Anywhere
	}
	return k.ofBlurred(n)
}

func (k *Key) ofInteger(v stmt.Value) (gene.Gene, Match) {
	if v.Kind == stmt.Int || v.Kind == stmt.Uint {
		return k.ofExact(v)
	}
	n, ok := v.Integer()
	switch v.Kind {
	case stmt.Decimal:
		if ok && n.Kind == stmt.Int {
			return k.ofExact(n)
		}
	case stmt.String:
		if ok && (k.Column.holds(n) || !beyondDouble(n)) {
			return k.ofExact(n)
		}
	case stmt.Float:
		return k.ofFloat(v.Float, n, ok)
	case stmt.Int, stmt.Uint, stmt.Unknown, stmt.Null, stmt.Default, stmt.Bytes, stmt.Temporal:
	}
	return 0, Anywhere
}

func beyondDouble(n stmt.Value) bool {
	return n.Kind == stmt.Uint || n.Int >= stmt.ExactDouble || n.Int <= -stmt.ExactDouble
}

// ofExact returns the gene of n, or of the integer with the same 64 bits if n is out of the column's range.
func (k *Key) ofExact(n stmt.Value) (gene.Gene, Match) {
	if !k.Column.holds(n) {
		if n = otherSign(n); !k.Column.holds(n) {
			return 0, Nowhere
		}
	}
	switch k.Role {
	case Owner:
		return gene.OfInt(int64(n.Bits()), k.width), Here
	case Gene:
		if n.Bits() > uint64(k.width.Last()) {
			return 0, Nowhere
		}
		return gene.Gene(n.Bits()), Here
	case ID, Parent, OrderNumber, Text:
	}
	if !k.Layout.ValidUint(n.Bits()) {
		return 0, Nowhere
	}
	return k.Layout.GeneUint(n.Bits()) & k.width.Last(), Here
}

// otherSign returns the integer with the same 64 bits and the other signedness.
func otherSign(n stmt.Value) stmt.Value {
	if n.Kind == stmt.Uint {
		return stmt.IntValue(int64(n.Uint))
	}
	return stmt.UintValue(uint64(n.Int))
}

// blur is the greatest distance between two 64-bit integers that convert to the same double.
const blur = 1 << 11

// ofBlurred returns the gene of all integers that convert to the same double as n. IDs near each other have one gene, except at the boundary between
// two genes, where the result is Anywhere.
func (k *Key) ofBlurred(n stmt.Value) (gene.Gene, Match) {
	if !k.isID() || !k.Column.holds(n) {
		return 0, Anywhere
	}
	bits := n.Bits()
	g := k.Layout.GeneUint(bits)
	if k.Layout.GeneUint(bits-blur) != g || k.Layout.GeneUint(bits+blur) != g || !k.Layout.ValidUint(bits) {
		return 0, Anywhere
	}
	return g & k.width.Last(), Here
}

func (k *Key) ofFloat(f float64, n stmt.Value, whole bool) (gene.Gene, Match) {
	const maxInt = 1 << 63 // above it, MySQL converts some doubles to 2^63 - 1
	switch {
	case whole:
		return k.ofExact(n)
	case -stmt.ExactDouble < f && f < stmt.ExactDouble: // it has a fraction
		return 0, Anywhere
	case -maxInt < f && f < maxInt:
		return k.ofBlurred(stmt.IntValue(int64(f)))
	}
	return 0, Anywhere
}

// ofText returns the hash of the value that the column would store, without the trailing spaces that comparisons ignore.
func (k *Key) ofText(v stmt.Value) (gene.Gene, Match) {
	switch {
	case k.Column.IsBinary():
		if v.Kind != stmt.String && v.Kind != stmt.Bytes {
			return 0, Anywhere
		}
	case v.Kind != stmt.String || !utf8.Valid(v.Text):
		return 0, Anywhere
	}
	if k.Column.PadSpace {
		return gene.OfBytes(trimSpaces(v.Text), k.width), Here
	}
	return gene.OfBytes(v.Text, k.width), Here
}

func trimSpaces(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

func (k *Key) ofBytes(v stmt.Value) (gene.Gene, Match) {
	if v.Kind != stmt.Bytes && v.Kind != stmt.String {
		return 0, Anywhere
	}
	if len(v.Text) != k.Layout.Bytes() && k.Wide.IsZero() {
		return 0, Nowhere
	}
	g, err := k.GeneOfBytes(v.Text)
	if err != nil {
		return 0, Nowhere
	}
	return g, Here
}

// Between returns the genes of the IDs within [low, high]. NULL is an open end. The range of genes is empty if no ID can be within. ok is false if a
// range of values doesn't limit the genes.
func (k *Key) Between(low, high stmt.Value) (genes gene.Range, ok bool) {
	// In a signed column plain64's upper genes are sorted before its lower ones. And genes are in the order of IDs only if they are as wide as the
	// layout's.
	if !k.isID() || !k.Column.IsInteger() || k.Layout.Name() == "plain64" || k.Layout.GeneWidth() != k.width {
		return gene.Range{}, false
	}
	genes = gene.All(k.width)
	switch {
	case low.Kind == stmt.Null || low.Kind == stmt.Int && low.Int < 0:
	case low.Kind == stmt.Int && k.Layout.ValidUint(uint64(low.Int)):
		genes.First = k.Layout.GeneUint(uint64(low.Int))
	default:
		return gene.Range{}, false
	}
	switch {
	case high.Kind == stmt.Null || high.Kind == stmt.Int && high.Int >= 0 && !k.Layout.ValidUint(uint64(high.Int)):
	case high.Kind == stmt.Int && high.Int >= 0:
		genes.Last = k.Layout.GeneUint(uint64(high.Int))
	default:
		return gene.Range{}, false
	}
	return genes, true
}
