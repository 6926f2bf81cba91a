package format

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// calcPart is {calc:EXPRESSION}: whole-number arithmetic on the other parts of the text, padded with zeros to the length of its
// greatest result:
//
//	{calc:seq * 9 % 31 % 10}
//	{calc:(98 - (part1 * 100000 + seq) * 100 % 97) % 97}
//	{calc:(10 - weighted(seq, 3, 1) % 10) % 10}
//
// seq is the sequence as the text shows it, and part1, part2 … the parts of the template in its order, which must be decimal
// digits. The operators are + - * / % with the usual precedence; / rounds down, and % is never negative. weighted(x, w, …) is the
// sum of the digits of x from the right, each times the next weight in turn; luhn(x) is the check digit of x by Luhn. Results are
// limited, so they end with % or have a known limit otherwise.
func calcPart(argument string) (Part, error) {
	e, err := parseCalc(argument)
	if err != nil {
		return Part{}, fmt.Errorf("%q: %w", argument, err)
	}
	if e.high == nil || e.low == nil || e.low.Sign() < 0 {
		return Part{}, fmt.Errorf("%q: how long its results are is not known: end it with %% and a number", argument)
	}
	length := len(e.high.String())
	if length > mostDigits {
		return Part{}, fmt.Errorf("%q: its results have up to %d digits: at most %d fit", argument, length, mostDigits)
	}
	return Part{Max: length, Fixed: true, Stage: Calculated, refers: e.parts, Text: func(_ context.Context, v *Values) (string, error) {
		n, err := e.value(v)
		if err != nil {
			return "", err
		}
		text := n.String()
		return strings.Repeat("0", max(0, length-len(text))) + text, nil
	}}, nil
}

// calc is a parsed expression.
type calc struct {
	value     func(v *Values) (*big.Int, error)
	low, high *big.Int // bounds of its results; nil: unlimited
	constant  *big.Int // nil: it is none
	parts     []int    // the parts that it refers to, from 1
}

const (
	longestCalc = 200 // bytes
	deepestCalc = 20  // parentheses
)

// parseCalc reads an expression.
func parseCalc(text string) (calc, error) {
	if len(text) > longestCalc {
		return calc{}, fmt.Errorf("it has %d bytes: at most %d", len(text), longestCalc)
	}
	r := calcReader{rest: text}
	e, err := r.sum(0)
	if err == nil && r.peek() != 0 {
		err = fmt.Errorf("%q is not expected", r.rest)
	}
	return e, err
}

type calcReader struct{ rest string }

// peek returns the next character that is no space, or 0 at the end.
func (r *calcReader) peek() byte {
	r.rest = strings.TrimLeft(r.rest, " ")
	if r.rest == "" {
		return 0
	}
	return r.rest[0]
}

func (r *calcReader) accept(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

func (r *calcReader) word(of string) string {
	r.peek()
	n := len(r.rest) - len(strings.TrimLeft(r.rest, of))
	word := r.rest[:n]
	r.rest = r.rest[n:]
	return word
}

func (r *calcReader) sum(depth int) (calc, error) {
	return r.operators("+-", depth, (*calcReader).product)
}

func (r *calcReader) product(depth int) (calc, error) {
	return r.operators("*/%", depth, (*calcReader).operand)
}

// operators reads operands and the operators between them, from the left.
func (r *calcReader) operators(list string, depth int, operand func(*calcReader, int) (calc, error)) (calc, error) {
	a, err := operand(r, depth)
	for err == nil {
		op := r.peek()
		if op == 0 || strings.IndexByte(list, op) < 0 {
			return a, nil
		}
		r.rest = r.rest[1:]
		var b calc
		if b, err = operand(r, depth); err == nil {
			a, err = apply(op, a, b)
		}
	}
	return calc{}, err
}

const (
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
	decimals  = "0123456789"
)

func (r *calcReader) operand(depth int) (calc, error) {
	switch c := r.peek(); {
	case c == 0:
		return calc{}, errors.New("it ends where a number is expected")
	case depth > deepestCalc:
		return calc{}, errors.New("it has too many parentheses")
	case r.accept('('):
		e, err := r.sum(depth + 1)
		if err == nil && !r.accept(')') {
			err = errors.New("a ) is missing")
		}
		return e, err
	case strings.IndexByte(decimals, c) >= 0:
		n, ok := new(big.Int).SetString(r.word(decimals), 10)
		if !ok || n.BitLen() > 63 {
			return calc{}, errors.New("its numbers have at most 63 bits")
		}
		return calc{value: func(*Values) (*big.Int, error) { return n, nil }, low: n, high: n, constant: n}, nil
	}
	switch name := r.word(lowerCase); name {
	case "seq":
		return calc{low: new(big.Int), value: func(v *Values) (*big.Int, error) { return new(big.Int).SetUint64(v.Sequence), nil }}, nil
	case "part":
		n, err := strconv.Atoi(r.word(decimals))
		if err != nil || n < 1 {
			return calc{}, errors.New("write part1 for the first part, part2 for the second")
		}
		return calc{low: new(big.Int), parts: []int{n}, value: func(v *Values) (*big.Int, error) { return v.decimal(n) }}, nil
	case "luhn", "weighted":
		return r.call(name, depth)
	default:
		return calc{}, fmt.Errorf("%q is none of seq, part1, part2 …, weighted(x, w, …), luhn(x) and a number", name+r.rest)
	}
}

// call reads the arguments of a function.
func (r *calcReader) call(name string, depth int) (calc, error) {
	if !r.accept('(') {
		return calc{}, fmt.Errorf("%s has arguments in parentheses", name)
	}
	x, err := r.sum(depth + 1)
	if err != nil {
		return calc{}, err
	}
	if x.low == nil || x.low.Sign() < 0 {
		return calc{}, fmt.Errorf("the first argument of %s may be negative, which has no digits", name)
	}
	var weights []uint64
	for r.accept(',') {
		w, err := strconv.ParseUint(r.word(decimals), 10, 16)
		if err != nil {
			return calc{}, fmt.Errorf("the weights of %s are numbers up to 65535", name)
		}
		weights = append(weights, w)
	}
	switch {
	case !r.accept(')'):
		return calc{}, errors.New("a ) is missing")
	case (name == "luhn") != (len(weights) == 0):
		return calc{}, errors.New("write luhn(x), or weighted(x, w, …) with one weight at least")
	}
	e := calc{low: new(big.Int), parts: x.parts}
	if name == "luhn" {
		e.high = big.NewInt(9)
	}
	e.value = func(v *Values) (*big.Int, error) {
		n, err := x.value(v)
		if err != nil {
			return nil, err
		}
		if name == "luhn" {
			return luhn(n.String()), nil
		}
		return weighted(n.String(), weights), nil
	}
	return e, nil
}

// weighted returns the sum of the digits from the right, each times the next weight in turn.
func weighted(digits string, weights []uint64) *big.Int {
	sum := uint64(0)
	for i := range len(digits) {
		sum += uint64(digits[len(digits)-1-i]-'0') * weights[i%len(weights)]
	}
	return new(big.Int).SetUint64(sum)
}

// luhn returns the check digit to be written after the digits.
func luhn(digits string) *big.Int {
	sum := uint64(0)
	for i := range len(digits) {
		d := uint64(digits[len(digits)-1-i] - '0')
		if i%2 == 0 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	return new(big.Int).SetUint64((10 - sum%10) % 10)
}

// apply combines two expressions.
func apply(op byte, a, b calc) (calc, error) {
	e := calc{parts: append(a.parts[:len(a.parts):len(a.parts)], b.parts...)}
	var do func(z, x, y *big.Int) *big.Int
	switch op {
	case '+':
		do, e.low, e.high = (*big.Int).Add, both((*big.Int).Add, a.low, b.low), both((*big.Int).Add, a.high, b.high)
	case '-':
		do, e.low, e.high = (*big.Int).Sub, both((*big.Int).Sub, a.low, b.high), both((*big.Int).Sub, a.high, b.low)
	case '*':
		if a.low == nil || a.low.Sign() < 0 || b.low == nil || b.low.Sign() < 0 {
			return calc{}, errors.New("a factor may be negative: take it modulo a number first")
		}
		do, e.low, e.high = (*big.Int).Mul, both((*big.Int).Mul, a.low, b.low), both((*big.Int).Mul, a.high, b.high)
	default:
		if b.constant == nil || b.constant.Sign() == 0 {
			return calc{}, fmt.Errorf("behind %c is a number above 0", op)
		}
		if do = (*big.Int).Div; op == '%' { // Div and Mod are the Euclidean ones: the remainder is never negative
			do, e.low, e.high = (*big.Int).Mod, new(big.Int), new(big.Int).Sub(b.constant, big.NewInt(1))
			break
		}
		e.low, e.high = both(do, a.low, b.constant), both(do, a.high, b.constant)
	}
	e.value = func(v *Values) (*big.Int, error) {
		x, err := a.value(v)
		if err != nil {
			return nil, err
		}
		y, err := b.value(v)
		if err != nil {
			return nil, err
		}
		return do(new(big.Int), x, y), nil
	}
	return e, nil
}

func both(do func(z, x, y *big.Int) *big.Int, x, y *big.Int) *big.Int {
	if x == nil || y == nil {
		return nil
	}
	return do(new(big.Int), x, y)
}

// decimal returns the number in a part, from 1.
func (v *Values) decimal(part int) (*big.Int, error) {
	text := v.texts[part-1]
	n, ok := new(big.Int).SetString(text, 10)
	if !ok || strings.Trim(text, decimals) != "" {
		return nil, ValueError(fmt.Sprintf("part%d is %q, and a number is calculated from it: it has digits alone", part, text))
	}
	return n, nil
}
