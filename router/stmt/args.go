package stmt

import (
	"encoding/hex"
	"strconv"
)

// Args provides the values of one execution: the literals of its text and, for a prepared statement, the parameters. It
// is reused for each execution and isn't safe for concurrent use.
type Args struct {
	*Lexed
	Bound   []Value // by the placeholder's ordinal
	Foreign bool    // strings are not in UTF-8
	scratch []byte
}

// Reset prepares for a new execution.
func (a *Args) Reset(l *Lexed, bound []Value) {
	a.Lexed, a.Bound, a.scratch = l, bound, a.scratch[:0]
}

// Value reads literal i. The value's text is a view, valid until Reset.
func (a *Args) Value(i int32) Value {
	literal := a.Literals[i]
	text := a.Text[literal.Start:literal.End]
	switch literal.Kind {
	case IntLiteral:
		if v, ok := parseInteger(trimZeros(text)); ok {
			return v
		}
		return Value{Kind: Decimal, Text: text}
	case DecimalLiteral:
		return Value{Kind: Decimal, Text: text}
	case FloatLiteral:
		if f, err := strconv.ParseFloat(string(text), 64); err == nil {
			return FloatValue(f)
		}
	case StringLiteral:
		return a.native(Value{Kind: String, Text: a.unquote(text)})
	case IntroducedLiteral:
		return a.introduced(text)
	case HexLiteral:
		return a.unhex(text)
	case ParamLiteral:
		if int(literal.Param) < len(a.Bound) {
			return a.native(a.Bound[literal.Param])
		}
	case BitLiteral, CommentLiteral:
	}
	return Value{}
}

// native marks a text as unknown if its bytes differ from those that a column stores, because the server would first
// convert it.
func (a *Args) native(v Value) Value {
	if !a.Foreign || v.Kind != String {
		return v
	}
	for _, c := range v.Text {
		if c >= 0x80 {
			return Value{}
		}
	}
	return v
}

// Operand reads an operand with one value. For a list it returns the first.
func (a *Args) Operand(o *Operand) Value {
	v := o.Const
	if o.Slot >= 0 {
		v = a.Value(a.Slots[o.Slot].First)
	}
	if o.Negative {
		return a.negate(v)
	}
	return v
}

// negate negates the value after a minus sign. For a string, the result is unknown, because only the server computes it.
func (a *Args) negate(v Value) Value {
	switch v.Kind {
	case Int:
		if v.Int == -1<<63 {
			break // a parameter
		}
		return IntValue(-v.Int)
	case Uint:
		if v.Uint == 1<<63 {
			return IntValue(-1 << 63)
		}
	case Float:
		return FloatValue(-v.Float)
	case Decimal:
		if len(v.Text) == 0 || v.Text[0] == '-' {
			break // a parameter; the server evaluates - -1 in its own way
		}
		from := len(a.scratch)
		a.scratch = append(append(a.scratch, '-'), v.Text...)
		return Value{Kind: Decimal, Text: a.scratch[from:len(a.scratch):len(a.scratch)]}
	case Null:
		return v
	case Unknown, Default, String, Bytes, Temporal:
	}
	return Value{}
}

// Cell reads a value of an INSERT's row.
func (a *Args) Cell(c Cell) Value {
	if c.Literal < 0 {
		return wordValue(a.Text[c.Start:c.End])
	}
	v := a.Value(c.Literal)
	if c.Negative {
		return a.negate(v)
	}
	return v
}

// wordValue reads values that are words.
func wordValue(text []byte) Value {
	text = sole(text)
	switch {
	case isWord(text, "null"):
		return Value{Kind: Null}
	case isWord(text, "default"):
		return Value{Kind: Default}
	case isWord(text, "true"):
		return IntValue(1)
	case isWord(text, "false"):
		return IntValue(0)
	}
	return Value{}
}

func trimZeros(b []byte) []byte {
	for len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	return b
}

// unquote returns the characters of a quoted string. If it has no escapes, the result is a view of the text.
func (a *Args) unquote(quoted []byte) []byte {
	quote, body := quoted[0], quoted[1:len(quoted)-1]
	backslash := a.Mode&NoBackslash == 0
	plain := true
	for _, c := range body {
		if c == quote || (c == '\\' && backslash) {
			plain = false
			break
		}
	}
	if plain {
		return body
	}
	from := len(a.scratch)
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c == '\\' && backslash && i+1 < len(body):
			i++
			a.scratch = appendEscaped(a.scratch, body[i])
		case c == quote:
			i++ // doubled
			a.scratch = append(a.scratch, c)
		default:
			a.scratch = append(a.scratch, c)
		}
	}
	return a.scratch[from:len(a.scratch):len(a.scratch)]
}

// appendEscaped follows "String Literals" in MySQL's manual.
func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '0':
		return append(dst, 0)
	case 'b':
		return append(dst, '\b')
	case 'n':
		return append(dst, '\n')
	case 'r':
		return append(dst, '\r')
	case 't':
		return append(dst, '\t')
	case 'Z':
		return append(dst, 0x1a)
	case '%', '_':
		return append(dst, '\\', c)
	}
	return append(dst, c)
}

// unhex reads X'4D79' and 0x4D79.
func (a *Args) unhex(text []byte) Value {
	digits := text[2:]
	if text[1] == '\'' {
		digits = text[2 : len(text)-1]
	}
	from := len(a.scratch)
	if len(digits)%2 == 1 {
		if text[1] == '\'' {
			return Value{}
		}
		var pair [2]byte
		pair[0], pair[1] = '0', digits[0]
		var b [1]byte
		if _, err := hex.Decode(b[:], pair[:]); err != nil {
			return Value{}
		}
		a.scratch = append(a.scratch, b[0])
		digits = digits[1:]
	}
	out, err := hex.AppendDecode(a.scratch, digits)
	if err != nil {
		return Value{}
	}
	a.scratch = out
	return Value{Kind: Bytes, Text: out[from:len(out):len(out)]}
}
