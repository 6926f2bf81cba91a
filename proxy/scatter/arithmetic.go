package scatter

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/shopspring/decimal"

	"locus/proxy/wire"
	"locus/router/plan"
)

// count adds up 64-bit counts.
func (g *merger) count(at int) ([]byte, error) {
	n, err := g.total(at)
	if err != nil {
		return nil, err
	}
	if g.format == Binary {
		return binary.LittleEndian.AppendUint64(nil, uint64(n)), nil
	}
	return g.number(at, strconv.AppendInt(nil, n, 10)), nil
}

// number encodes a combined number in the character set of the shards' numbers.
func (g *merger) number(at int, n []byte) []byte {
	for i := range g.answers {
		if v := g.answers[i].values[at]; v != nil && (g.format == Text || isDecimal(g.columns[at])) {
			return wire.WidenNumber(n, v)
		}
	}
	return n
}

func (g *merger) total(at int) (int64, error) {
	if g.columns[at].typ != mysql.MYSQL_TYPE_LONGLONG {
		return 0, refuse("column %d of several shards' answers should be a count and has type %d", at+1, g.columns[at].typ)
	}
	var sum int64
	for i := range g.answers {
		a := &g.answers[i]
		v := a.values[at]
		if v == nil {
			return 0, a.fail(fmt.Errorf("a count is NULL: %w", wire.ErrMalformed))
		}
		n := wire.Int(v)
		if g.format == Text {
			var err error
			if n, err = strconv.ParseInt(string(wire.NarrowNumber(v)), 10, 64); err != nil {
				return 0, a.fail(err)
			}
		}
		sum += n
	}
	return sum, nil
}

// sum adds up sums. It returns nil if all of them are NULL.
func (g *merger) sum(at int) ([]byte, error) {
	c := g.columns[at]
	switch {
	case isDecimal(c):
		sum, any, err := g.sumDecimals(at)
		if err != nil || !any {
			return nil, err
		}
		return g.number(at, []byte(sumText(sum, int32(c.decimals)))), nil
	case c.typ == mysql.MYSQL_TYPE_DOUBLE:
		sum, any, err := g.sumDoubles(at)
		if err != nil || !any {
			return nil, err
		}
		return g.double(at, sum, c), nil
	}
	return nil, refuse("column %d of several shards' answers should be a sum and has type %d", at+1, c.typ)
}

func (g *merger) sumDecimals(at int) (sum decimal.Decimal, any bool, err error) {
	for i := range g.answers {
		a := &g.answers[i]
		v := a.values[at]
		if v == nil {
			continue
		}
		d, err := decimal.NewFromString(string(wire.NarrowNumber(v)))
		if err != nil {
			return sum, false, a.fail(err)
		}
		sum, any = sum.Add(d), true
	}
	return sum, any, nil
}

func (g *merger) sumDoubles(at int) (sum float64, any bool, err error) {
	for i := range g.answers {
		a := &g.answers[i]
		v := a.values[at]
		if v == nil {
			continue
		}
		n := math.Float64frombits(wire.Uint(v))
		if g.format == Text {
			if n, err = strconv.ParseFloat(string(wire.NarrowNumber(v)), 64); err != nil {
				return sum, false, a.fail(err)
			}
		}
		sum, any = sum+n, true
	}
	return sum, any, nil
}

// average divides the sum of the sums by the sum of the counts.
func (g *merger) average(c column, f plan.Combined) ([]byte, error) {
	sumAt, ok1 := g.hiddenColumn(f.Sum)
	countAt, ok2 := g.hiddenColumn(f.Count)
	if !ok1 || !ok2 {
		return nil, refuse("AVG over rows of several shards lacks its sum and count")
	}
	n, err := g.total(countAt)
	if err != nil || n == 0 {
		return nil, err
	}
	sumColumn := g.columns[sumAt]
	switch {
	case isDecimal(c) && isDecimal(sumColumn):
		sum, _, err := g.sumDecimals(sumAt)
		if err != nil {
			return nil, err
		}
		return g.number(sumAt, []byte(divide(sum, n, sumColumn.decimals, c.decimals))), nil
	case c.typ == mysql.MYSQL_TYPE_DOUBLE && sumColumn.typ == mysql.MYSQL_TYPE_DOUBLE:
		sum, _, err := g.sumDoubles(sumAt)
		if err != nil {
			return nil, err
		}
		return g.double(sumAt, sum/float64(n), c), nil
	}
	return nil, refuse("AVG has type %d and its sum %d in several shards' answers", c.typ, sumColumn.typ)
}

// divide follows decimal_div of MySQL's strings/decimal.cc, which computes in words of nine digits. The quotient is
// truncated at the end of its last word and then rounded half away from zero.
func divide(sum decimal.Decimal, n int64, sumDecimals, decimals byte) string {
	const word = 9
	inWords := func(digits int) int { return (digits + word - 1) / word * word }
	have := inWords(int(sumDecimals))
	more := max(0, int(decimals)-have)
	quotient, _ := sum.QuoRem(decimal.NewFromInt(n), int32(inWords(have+more)))
	return quotient.StringFixed(int32(decimals))
}

// sumText follows decimal_add of MySQL's strings/decimal.cc, which keeps nine words of nine digits and truncates digits behind the point
// that have no room.
func sumText(sum decimal.Decimal, decimals int32) string {
	const word, words = 9, 9
	whole := int32(len(sum.Abs().Truncate(0).String()))
	room := max(0, words-(whole+word-1)/word) * word
	return sum.Truncate(min(decimals, room)).StringFixed(min(decimals, room))
}

// double encodes a floating-point result as the values of a column are encoded.
func (g *merger) double(at int, v float64, c column) []byte {
	if g.format == Binary {
		return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
	}
	return g.number(at, appendDouble(nil, v, c.decimals))
}
