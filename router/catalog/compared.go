package catalog

import (
	"unicode/utf8"

	"locus/idgen/gene"
	"locus/router/stmt"
)

// Of reads the gene that rows must have for `column = v` to hold, also with <=>,
// and between two rows; see OfListed and OfInRows for lists. Where some server
// could find it true for values that hash elsewhere, the answer is Anywhere. It
// allocates nothing.
//
// What servers compare how was tried on MySQL 9.7 and MariaDB 10.11
// (TestServersCompare does it again):
//
//   - Integers are compared as integers; but MySQL, in a list of mixed types and
//     in a list of rows, compares the 64 bits and forgets which are signed.
//   - A string that is an integer of the column is compared as that integer; one
//     that isn't as a double, or by what integer it converts to, which depends on
//     the server, on the form of the condition and on whether the column is
//     indexed. Below 2^53 it is all one.
//   - Doubles are compared as such, or by what integer they convert to.
//   - Decimals are compared as such, or by what BIGINT they convert to.
//   - What has a fraction is rounded by either server in some of the forms:
//     on MySQL, (column, 1) IN ((0.5, 1)) finds 1.
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
	}
	return k.ofBytes(v)
}

// Convertible tells whether v is a string that servers make an integer of the
// column of. A list of nothing else, be it of literals or of parameters but not
// of both, is compared as integers.
func (k *Key) Convertible(v stmt.Value) bool {
	if v.Kind != stmt.String || !k.Column.IsInteger() {
		return false
	}
	n, ok := v.Integer()
	return ok && k.Column.holds(n)
}

// OfListed is Of for an element of a list, IN (v, …), of several values that are
// not all Convertible: MySQL compares the strings among them as doubles.
func (k *Key) OfListed(v stmt.Value) (gene.Gene, Match) {
	if n, ok := v.Integer(); ok && v.Kind == stmt.String && k.Column.IsInteger() && beyondDouble(n) {
		return k.ofBlurred(n)
	}
	return k.Of(v)
}

// OfInRows is Of for an element of a list of rows, (column, …) IN ((v, …), …).
// If one of them is a double, or a string beside a decimal, MariaDB compares all
// of them as doubles.
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

// ofExact takes n for n, or for the same 64 bits where the column can't hold n.
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
	case ID, Parent, OrderNumber:
	}
	if !k.Layout.ValidUint(n.Bits()) {
		return 0, Nowhere
	}
	return k.Layout.GeneUint(n.Bits()) & k.width.Last(), Here
}

// otherSign gives the same 64 bits with the other signedness.
func otherSign(n stmt.Value) stmt.Value {
	if n.Kind == stmt.Uint {
		return stmt.IntValue(int64(n.Uint))
	}
	return stmt.UintValue(uint64(n.Int))
}

// blur is how far apart two 64-bit integers can be that are one double.
const blur = 1 << 11

// ofBlurred takes n for any integer that is the same double. IDs near each
// other are of one gene, except where genes meet.
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
	const maxInt = 1 << 63 // above it, MySQL takes some doubles for 2^63 - 1
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

// ofText hashes what the column would store, without the trailing spaces that
// do not count in comparisons.
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

// Between gives the genes of the IDs within [low, high], of which NULL is an
// open end; the range is empty where no ID can be within. ok is false where a
// range of values says nothing of genes.
func (k *Key) Between(low, high stmt.Value) (genes gene.Range, ok bool) {
	// In a signed column plain64's upper genes stand before its lower ones; and
	// genes are in the order of IDs only if they are as wide as the layout's.
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
