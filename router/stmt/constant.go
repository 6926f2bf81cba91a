package stmt

import (
	"math/bits"
	"strconv"
)

// Constant computes a value of an INSERT's row that is a constant expression: strings next to each other, and sums, differences,
// products, DIV and % of integers within the signed range, with user variables and parentheses. variable returns the value of a user
// variable; nil means that they are not known. The result is Unknown for other expressions, and where a server would return an error
// or another kind of number.
func (a *Args) Constant(c Cell, variable func(name string) Value) Value {
	scan := constantReader{Args: a, variable: variable, pos: int(c.Start), end: int(c.End)}
	v := scan.sum()
	if scan.failed || scan.next() < scan.end {
		return Value{}
	}
	return v
}

// Expression returns the text of a cell. plain is false if the text contains a placeholder.
func (a *Args) Expression(c Cell) (text string, plain bool) {
	for i := a.literalFrom(int(c.Start)); i < len(a.Literals) && a.Literals[i].End <= c.End; i++ {
		if a.Literals[i].Kind == ParamLiteral {
			return "", false
		}
	}
	return string(a.Text[c.Start:c.End]), true
}

// constantReader reads a constant expression.
type constantReader struct {
	*Args
	variable func(name string) Value
	pos, end int
	depth    int
	failed   bool
}

// next skips blanks and comments, and returns the position.
func (r *constantReader) next() int {
	for {
		r.pos += besides(r.Text[r.pos:r.end])
		if r.pos == r.end || class[r.Text[r.pos]] != spaceByte {
			return r.pos
		}
		r.pos++
	}
}

func (r *constantReader) fail() Value {
	r.failed = true
	return Value{}
}

// operator takes one of the characters, or a word.
func (r *constantReader) operator(chars string, words ...string) string {
	at := r.next()
	if r.failed || at == r.end {
		return ""
	}
	for i := range len(chars) {
		if r.Text[at] == chars[i] {
			r.pos++
			return chars[i : i+1]
		}
	}
	end := wordEnd(r.Text[:r.end], at)
	for _, w := range words {
		if isWord(r.Text[at:end], w) {
			r.pos = end
			return w
		}
	}
	return ""
}

func (r *constantReader) sum() Value {
	v := r.product()
	for {
		switch r.operator("+-") {
		case "+":
			v = r.integer(v, r.product(), func(x, y int64) (int64, bool) { return x + y, (x+y > x) == (y > 0) })
		case "-":
			v = r.integer(v, r.product(), func(x, y int64) (int64, bool) { return x - y, (x-y < x) == (y > 0) })
		default:
			return v
		}
	}
}

func (r *constantReader) product() Value {
	v := r.factor()
	for {
		switch r.operator("*%", "div", "mod") {
		case "*":
			v = r.integer(v, r.factor(), times)
		case "%", "mod":
			v = r.integer(v, r.factor(), func(x, y int64) (int64, bool) {
				if y == 0 || y == -1 {
					return 0, y != 0
				}
				return x % y, true
			})
		case "div":
			v = r.integer(v, r.factor(), func(x, y int64) (int64, bool) {
				if y == 0 || y == -1 {
					return -x, y != 0 && x != -1<<63
				}
				return x / y, true
			})
		default:
			return v
		}
	}
}

func times(x, y int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(x), magnitude(y))
	return x * y, high == 0 && low < 1<<63
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// integer applies an operator to integers.
func (r *constantReader) integer(x, y Value, apply func(x, y int64) (int64, bool)) Value {
	if r.failed || x.Kind != Int || y.Kind != Int {
		return r.fail()
	}
	n, ok := apply(x.Int, y.Int)
	if !ok {
		return r.fail()
	}
	return IntValue(n)
}

// factor reads one operand with its signs.
func (r *constantReader) factor() Value {
	if r.depth++; r.depth > 100 {
		return r.fail()
	}
	defer func() { r.depth-- }()
	switch r.operator("+-(") {
	case "+":
		return r.integer(IntValue(0), r.factor(), func(_, y int64) (int64, bool) { return y, true })
	case "-":
		return r.integer(IntValue(0), r.factor(), func(_, y int64) (int64, bool) { return -y, y != -1<<63 })
	case "(":
		v := r.sum()
		if r.operator(")") == "" {
			return r.fail()
		}
		return v
	}
	if at := r.next(); r.failed || at == r.end {
		return r.fail()
	}
	if literal, ok := r.literal(); ok {
		return literal
	}
	return r.word()
}

// literal reads a literal, and the strings behind it.
func (r *constantReader) literal() (v Value, ok bool) {
	literal, ok := r.literalAt(r.pos)
	if !ok || literal.Kind == CommentLiteral {
		return v, false
	}
	v = r.Value(int32(r.literalFrom(r.pos)))
	r.pos = int(literal.End)
	for {
		more, ok := r.literalAt(r.next())
		if !ok || r.pos == r.end {
			return v, true
		}
		if more.Kind != StringLiteral || literal.Kind != StringLiteral || v.Kind != String {
			return r.fail(), true
		}
		next := r.Value(int32(r.literalFrom(r.pos)))
		if next.Kind != String {
			return r.fail(), true
		}
		v.Text = append(append(make([]byte, 0, len(v.Text)+len(next.Text)), v.Text...), next.Text...)
		r.pos = int(more.End)
	}
}

// word reads a user variable, TRUE or FALSE.
func (r *constantReader) word() Value {
	at := r.pos
	if r.Text[at] == '@' {
		end := wordEnd(r.Text[:r.end], at+1)
		if name := r.Text[at+1 : end]; len(name) > 0 && isVariable(name) && r.variable != nil {
			r.pos = end
			return r.variable(lower(string(name)))
		}
		return r.fail()
	}
	end := wordEnd(r.Text[:r.end], at)
	switch {
	case isWord(r.Text[at:end], "true"):
		r.pos = end
		return IntValue(1)
	case isWord(r.Text[at:end], "false"):
		r.pos = end
		return IntValue(0)
	}
	return r.fail()
}

// Stored returns the text that a column of text stores for a number, if that does not depend on the server.
func (v Value) Stored() (text []byte, ok bool) {
	switch v.Kind {
	case Int:
		return strconv.AppendInt(nil, v.Int, 10), true
	case Uint:
		return strconv.AppendUint(nil, v.Uint, 10), true
	case Decimal:
		return v.Text, plainDecimal(v.Text)
	default:
		return nil, false
	}
}

// plainDecimal reports whether a decimal is written as a server writes it: no sign, one digit or more in front of the point, no leading
// zeros, at most 30 digits behind it and 65 in all.
func plainDecimal(text []byte) bool {
	point := -1
	for i, c := range text {
		switch {
		case c == '.' && point < 0:
			point = i
		case c < '0' || c > '9':
			return false
		}
	}
	behind := len(text) - point - 1
	return point > 0 && behind > 0 && behind <= 30 && len(text) <= 66 && (text[0] != '0' || point == 1)
}
