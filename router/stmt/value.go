package stmt

import (
	"fmt"
	"strconv"
)

// ValueKind is how a value was written, which MySQL's conversions depend on.
type ValueKind uint8

const (
	// Unknown is a value that only the server can compute.
	Unknown ValueKind = iota
	Null
	// Default is the word DEFAULT in an INSERT.
	Default
	// Int and Uint are exact integers. Uint is used only beyond the signed range.
	Int
	Uint
	// Decimal is an exact number with a point, in Text.
	Decimal
	// Float is an approximate number.
	Float
	// String is text in the connection's character set, in Text.
	String
	// Bytes is a hexadecimal or bit literal, or a binary parameter, in Text.
	Bytes
	// Temporal is a date or time; it never carries a gene.
	Temporal
)

// Value is one literal or parameter. Text is a view, valid as long as the statement that it was read from.
type Value struct {
	Kind  ValueKind
	Int   int64   // for Int
	Uint  uint64  // for Uint
	Float float64 // for Float
	Text  []byte  // for Decimal, String, Bytes
}

// IntValue returns an exact integer.
func IntValue(v int64) Value { return Value{Kind: Int, Int: v} }

// UintValue returns an exact integer of MySQL's unsigned range.
func UintValue(v uint64) Value {
	if v <= 1<<63-1 {
		return Value{Kind: Int, Int: int64(v)}
	}
	return Value{Kind: Uint, Uint: v}
}

// FloatValue returns an approximate number. Drivers for JavaScript send one for every number.
func FloatValue(v float64) Value { return Value{Kind: Float, Float: v} }

// ExactDouble is the first integer whose successor is not a double. Below it, comparing as doubles and comparing as
// integers agree.
const ExactDouble = 1 << 53

// IsZero reports whether the value is the number 0, which requests a generated value as NULL does.
func (v Value) IsZero() bool { return v.Kind == Int && v.Int == 0 }

// Bits returns the 64 bits of an exact integer, in two's complement.
func (v Value) Bits() uint64 {
	if v.Kind == Uint {
		return v.Uint
	}
	return uint64(v.Int)
}

// String formats the value as SQL, for messages and plans.
func (v Value) String() string {
	switch v.Kind {
	case Null:
		return "NULL"
	case Default:
		return "DEFAULT"
	case Int:
		return strconv.FormatInt(v.Int, 10)
	case Uint:
		return strconv.FormatUint(v.Uint, 10)
	case String:
		return fmt.Sprintf("'%s'", v.Text)
	case Bytes:
		return fmt.Sprintf("0x%X", v.Text)
	case Float:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case Decimal:
		return string(v.Text)
	case Unknown, Temporal:
	}
	return "an expression"
}

// Integer returns the exact integer that MySQL would compare or store, if no other interpretation is possible: 42,
// 42.0, '42' and the double 42, but not ' 42', '4.2e1', '42abc', or doubles from 2^53 up.
func (v Value) Integer() (Value, bool) {
	switch v.Kind {
	case Int, Uint:
		return v, true
	case Decimal:
		return integerOfDecimal(v.Text)
	case String:
		return parseInteger(v.Text)
	case Float:
		if n := int64(v.Float); -ExactDouble < v.Float && v.Float < ExactDouble && float64(n) == v.Float {
			return IntValue(n), true
		}
	case Unknown, Null, Default, Bytes, Temporal:
	}
	return Value{}, false
}

// integerOfDecimal accepts digits, a point, and only zeros after it.
func integerOfDecimal(b []byte) (Value, bool) {
	for i, c := range b {
		if c != '.' {
			continue
		}
		for _, z := range b[i+1:] {
			if z != '0' {
				return Value{}, false
			}
		}
		return parseInteger(b[:i])
	}
	return parseInteger(b)
}

// parseInteger reads a canonical integer of MySQL's 64 bits: at most a sign, no leading zeros, no blanks.
func parseInteger(b []byte) (Value, bool) {
	digits, negative := b, false
	if len(b) > 0 && b[0] == '-' {
		digits, negative = b[1:], true
	}
	if len(digits) == 0 || len(digits) > 20 || (digits[0] == '0' && (len(digits) > 1 || negative)) {
		return Value{}, false
	}
	var n uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return Value{}, false
		}
		d := uint64(c - '0')
		if n > (1<<64-1-d)/10 {
			return Value{}, false
		}
		n = n*10 + d
	}
	if negative {
		if n > 1<<63 {
			return Value{}, false
		}
		return IntValue(-int64(n)), true
	}
	return UintValue(n), true
}
