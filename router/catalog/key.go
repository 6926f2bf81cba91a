package catalog

import (
	"errors"
	"fmt"

	"locus/idgen/orderid"
	"locus/router/gene"
	"locus/router/stmt"
)

// Role says how a column carries a gene.
type Role uint8

const (
	// Owner: the gene is the hash of the value.
	Owner Role = iota
	// ID, Parent and OrderNumber: the gene stands in the layout's top bits.
	ID
	Parent
	OrderNumber
	// Gene: the value is the gene.
	Gene
)

func (r Role) String() string {
	return [...]string{"owner", "ID", "parent's ID", "order number", "gene"}[r]
}

// Key is a column whose value tells a row's gene.
type Key struct {
	Role   Role
	Column *Column
	Layout orderid.Layout // ID, Parent, OrderNumber
	width  gene.Width
}

// Match says what a comparison with a value tells about the rows it holds for.
type Match uint8

const (
	// Anywhere: the comparison may hold on any shard.
	Anywhere Match = iota
	// Here: it holds for rows of one gene only.
	Here
	// Nowhere: it holds for no row.
	Nowhere
)

// Domain tells which keys can be compared with each other: equal values of one
// domain have equal genes.
func (k *Key) Domain() string {
	switch k.Role {
	case Owner:
		if k.Column.IsInteger() {
			return "owner/integer"
		}
		return fmt.Sprintf("owner/%s/%s", k.Column.Charset, k.Column.Collation)
	case Gene:
		return "gene"
	case ID, Parent:
		return "id/" + k.Layout.Name()
	case OrderNumber:
	}
	return "number/" + k.Layout.Name()
}

// Of reads the gene that rows must have for `column = v` to hold. Where MySQL's
// comparison could hold for values that hash elsewhere, the answer is Anywhere.
// It allocates nothing.
func (k *Key) Of(v stmt.Value) (gene.Gene, Match) {
	switch {
	case v.Kind == stmt.Null:
		return 0, Nowhere
	case v.Kind == stmt.Unknown || v.Kind == stmt.Default || v.Kind == stmt.Temporal || v.Kind == stmt.Float:
		return 0, Anywhere
	case k.Column.IsInteger():
		return k.ofInteger(v)
	case k.Role == Owner:
		return k.ofText(v)
	}
	return k.ofBytes(v)
}

// exactDouble is the range in which a comparison as floating-point numbers and
// one as integers agree.
const exactDouble = 1 << 53

func (k *Key) ofInteger(v stmt.Value) (gene.Gene, Match) {
	n, ok := v.Integer()
	if !ok {
		if v.Kind == stmt.Decimal && wholeNumber(v.Text) == fraction {
			return 0, Nowhere
		}
		return 0, Anywhere
	}
	if !k.Column.holds(n) {
		return 0, Nowhere
	}
	if v.Kind == stmt.String && k.Role == Owner && outsideDouble(n) {
		return 0, Anywhere
	}
	switch k.Role {
	case Owner:
		return gene.OfInt(int64(n.Bits()), k.width), Here
	case Gene:
		if n.Kind != stmt.Int || n.Int < 0 || gene.Gene(n.Int) > k.width.Last() || n.Int > int64(k.width.Last()) {
			return 0, Nowhere
		}
		return gene.Gene(n.Int), Here
	case ID, Parent, OrderNumber:
	}
	return k.ofID(n, v.Kind == stmt.String)
}

func outsideDouble(n stmt.Value) bool {
	return n.Kind == stmt.Uint || n.Int > exactDouble || n.Int < -exactDouble
}

// ofID reads the top bits. A string may be compared as a floating-point number,
// which is exact to 2^10 for 64-bit numbers: it routes only where that changes
// no gene.
func (k *Key) ofID(n stmt.Value, asString bool) (gene.Gene, Match) {
	bits := n.Bits()
	g := k.Layout.GeneUint(bits)
	if asString && outsideDouble(n) {
		const blur = 1 << 11
		if k.Layout.GeneUint(bits-blur) != g || k.Layout.GeneUint(bits+blur) != g {
			return 0, Anywhere
		}
	}
	if !k.Layout.ValidUint(bits) {
		return 0, Nowhere
	}
	return g & k.width.Last(), Here
}

// ofText hashes what the column would store, without the trailing spaces that
// do not count in comparisons.
func (k *Key) ofText(v stmt.Value) (gene.Gene, Match) {
	if v.Kind != stmt.String && !(v.Kind == stmt.Bytes && k.Column.IsBinary()) {
		return 0, Anywhere
	}
	return gene.OfBytes(k.trim(v.Text), k.width), Here
}

func (k *Key) trim(b []byte) []byte {
	if k.Column.PadSpace {
		for len(b) > 0 && b[len(b)-1] == ' ' {
			b = b[:len(b)-1]
		}
	}
	return b
}

func (k *Key) ofBytes(v stmt.Value) (gene.Gene, Match) {
	if v.Kind != stmt.Bytes && v.Kind != stmt.String {
		return 0, Anywhere
	}
	id, err := k.Layout.FromBytes(v.Text)
	if err != nil {
		return 0, Nowhere
	}
	return k.Layout.Gene(id) & k.width.Last(), Here
}

// Between gives the genes of the IDs within [low, high]; ok is false where a
// range of values says nothing of genes.
func (k *Key) Between(low, high stmt.Value) (gene.Range, bool) {
	if k.Role != ID && k.Role != Parent && k.Role != OrderNumber || !k.Column.IsInteger() {
		return gene.Range{}, false
	}
	all := gene.All(k.width)
	first, ok1 := k.boundGene(low, all.First)
	last, ok2 := k.boundGene(high, all.Last)
	if !ok1 || !ok2 || first > last || k.Layout.Name() == "plain64" || k.Layout.GeneWidth() != k.width {
		return gene.Range{}, false
	}
	return gene.Range{First: first, Last: last}, true
}

func (k *Key) boundGene(v stmt.Value, open gene.Gene) (gene.Gene, bool) {
	switch v.Kind {
	case stmt.Null:
		return open, true
	case stmt.Int:
		if v.Int < 0 || !k.Layout.ValidUint(uint64(v.Int)) {
			return 0, false
		}
		return k.Layout.GeneUint(uint64(v.Int)), true
	case stmt.Unknown, stmt.Default, stmt.Uint, stmt.Decimal, stmt.Float, stmt.String, stmt.Bytes, stmt.Temporal:
	}
	return 0, false
}

var (
	errNull  = errors.New("is NULL")
	errExpr  = errors.New("is an expression that only a server can compute; give a value")
	errRange = errors.New("is out of the column's range")
)

// Stored reads the gene of the value that an INSERT would store. Unlike Of it
// never shrugs: a value that MySQL would change on the way in is an error.
func (k *Key) Stored(v stmt.Value) (gene.Gene, error) { return k.StoredAs(v, k.width) }

// StoredAs is Stored for a gene of another width.
func (k *Key) StoredAs(v stmt.Value, w gene.Width) (gene.Gene, error) {
	switch v.Kind {
	case stmt.Null, stmt.Default:
		return 0, errNull
	case stmt.Unknown, stmt.Float, stmt.Temporal:
		return 0, errExpr
	case stmt.Int, stmt.Uint, stmt.Decimal, stmt.String, stmt.Bytes:
	}
	if k.Column.IsInteger() {
		return k.storedInteger(v, w)
	}
	if v.Kind != stmt.String && v.Kind != stmt.Bytes {
		return 0, fmt.Errorf("is a number for a %s column; quote it", k.Column.DataType)
	}
	if k.Role != Owner {
		id, err := k.Layout.FromBytes(v.Text)
		if err != nil {
			return 0, err
		}
		return k.Layout.Gene(id) & w.Last(), nil
	}
	if k.Column.length(v.Text) > k.Column.Length {
		return 0, fmt.Errorf("is longer than the column's %d characters", k.Column.Length)
	}
	return gene.OfBytes(k.trim(v.Text), w), nil
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
		return gene.Gene(n.Int) & w.Last(), nil
	case ID, Parent, OrderNumber:
	}
	if !k.Layout.ValidUint(n.Bits()) {
		return 0, fmt.Errorf("is not an ID of layout %s", k.Layout.Name())
	}
	return k.Layout.GeneUint(n.Bits()) & w.Last(), nil
}

type wholeness uint8

const (
	notNumber wholeness = iota
	whole
	fraction
)

// wholeNumber tells whether a decimal literal has a fraction.
func wholeNumber(text []byte) wholeness {
	point := false
	for _, c := range text {
		switch {
		case c == '.' && !point:
			point = true
		case c < '0' || c > '9':
			return notNumber
		case point && c != '0':
			return fraction
		}
	}
	return whole
}
