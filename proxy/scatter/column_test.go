package scatter

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
	"pgregory.net/rapid"

	"locus/proxy/wire"
)

// value is a test value. The type of its column decides which field it uses.
type value struct {
	null bool
	i    int64
	f    float64
	s    string
}

// testColumn generates, encodes and orders the values of a type, in simple code that is independent of the
// tested code.
type testColumn struct {
	wire.Column
	draw   func(*rapid.T) value
	text   func(value) string
	binary func(value) []byte // nil: as text
	less   func(a, b value) int
}

func byInt(a, b value) int    { return cmp.Compare(a.i, b.i) }
func byFloat(a, b value) int  { return cmp.Compare(a.f, b.f) }
func byString(a, b value) int { return strings.Compare(a.s, b.s) }

func drawInt(lo, hi int64) func(*rapid.T) value {
	edges := rapid.SampledFrom([]int64{lo, hi, lo + 1, hi - 1})
	few := rapid.Int64Range(max(lo, -3), max(lo, -3)+6)
	all := rapid.Int64Range(lo, hi)
	return func(t *rapid.T) value { return value{i: rapid.OneOf(few, all, edges).Draw(t, "int")} }
}

func fixed(n int) func(value) []byte {
	return func(v value) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v.i))[:n] }
}

func decimalText(v value) string {
	sign, n := "", v.i
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%02d", sign, n/100, n%100)
}

func named(typ byte, flags uint16, decimals byte) wire.Column {
	return wire.Column{Name: []byte(fmt.Sprintf("type%d", typ)), Type: typ, Flags: flags, Charset: binaryCharset, Decimals: decimals}
}

func stamp(v value) (y, mo, d, h, mi, s, us int64) {
	n := v.i
	us, n = n%1e6, n/1e6
	s, n = n%60, n/60
	mi, n = n%60, n/60
	h, n = n%24, n/24
	d, n = n%28+1, n/28
	return n / 12, n%12 + 1, d, h, mi, s, us
}

// testColumns are one of each kind.
var testColumns = []testColumn{
	{
		named(mysql.MYSQL_TYPE_LONGLONG, 0, 0), drawInt(math.MinInt64, math.MaxInt64),
		func(v value) string { return strconv.FormatInt(v.i, 10) }, fixed(8), byInt,
	},
	{
		named(mysql.MYSQL_TYPE_LONGLONG, mysql.UNSIGNED_FLAG, 0), drawInt(math.MinInt64, math.MaxInt64),
		func(v value) string { return strconv.FormatUint(uint64(v.i), 10) }, fixed(8),
		func(a, b value) int { return cmp.Compare(uint64(a.i), uint64(b.i)) },
	},
	{
		named(mysql.MYSQL_TYPE_TINY, 0, 0), drawInt(-128, 127),
		func(v value) string { return strconv.FormatInt(v.i, 10) }, fixed(1), byInt,
	},
	{
		named(mysql.MYSQL_TYPE_INT24, 0, 0), drawInt(-1<<23, 1<<23-1),
		func(v value) string { return strconv.FormatInt(v.i, 10) }, fixed(4), byInt,
	},
	{
		named(mysql.MYSQL_TYPE_YEAR, mysql.UNSIGNED_FLAG, 0), drawInt(1901, 2155),
		func(v value) string { return strconv.FormatInt(v.i, 10) }, fixed(2), byInt,
	},
	{named(mysql.MYSQL_TYPE_NEWDECIMAL, 0, 2), drawInt(-1e12, 1e12), decimalText, nil, byInt},
	{
		named(mysql.MYSQL_TYPE_DOUBLE, 0, notFixed), func(t *rapid.T) value {
			return value{f: rapid.OneOf(rapid.Float64Range(-2, 2), rapid.Float64Range(-1e300, 1e300), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e-310})).Draw(t, "double")}
		}, func(v value) string { return strconv.FormatFloat(v.f, 'g', -1, 64) },
		func(v value) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v.f)) }, byFloat,
	},
	{named(mysql.MYSQL_TYPE_DATETIME, 0, 6), drawInt(0, 9999*12*28*86400*1e6-1), func(v value) string {
		y, mo, d, h, mi, s, us := stamp(v)
		return fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d.%06d", y, mo, d, h, mi, s, us)
	}, func(v value) []byte {
		y, mo, d, h, mi, s, us := stamp(v)
		b := binary.LittleEndian.AppendUint16(nil, uint16(y))
		b = append(b, byte(mo), byte(d))
		if h+mi+s+us > 0 {
			b = append(b, byte(h), byte(mi), byte(s))
		}
		if us > 0 {
			b = binary.LittleEndian.AppendUint32(b, uint32(us))
		}
		return b
	}, byInt},
	{named(mysql.MYSQL_TYPE_TIME, 0, 6), drawInt(-839*3600*1e6+1, 839*3600*1e6-1), func(v value) string {
		sign, n := "", v.i
		if n < 0 {
			sign, n = "-", -n
		}
		return fmt.Sprintf("%s%02d:%02d:%02d.%06d", sign, n/3600e6, n/60e6%60, n/1e6%60, n%1e6)
	}, func(v value) []byte {
		if v.i == 0 {
			return []byte{}
		}
		negative, n := byte(0), v.i
		if n < 0 {
			negative, n = 1, -n
		}
		b := binary.LittleEndian.AppendUint32([]byte{negative}, uint32(n/86400e6))
		b = append(b, byte(n/3600e6%24), byte(n/60e6%60), byte(n/1e6%60))
		if n%1e6 > 0 {
			b = binary.LittleEndian.AppendUint32(b, uint32(n%1e6))
		}
		return b
	}, byInt},
	{named(mysql.MYSQL_TYPE_VAR_STRING, mysql.BINARY_FLAG, 0), func(t *rapid.T) value {
		return value{s: string(rapid.OneOf(rapid.SliceOfN(rapid.ByteRange('a', 'c'), 0, 3), rapid.SliceOfN(rapid.Byte(), 0, 400)).Draw(t, "bytes"))}
	}, func(v value) string { return v.s }, nil, byString},
}

func (c testColumn) encode(v value, f Format) []byte {
	switch {
	case v.null:
		return nil
	case f == Binary && c.binary != nil:
		return c.binary(v)
	}
	return []byte(c.text(v))
}

// compare orders NULL before all other values.
func (c testColumn) compare(a, b value) int {
	switch {
	case a.null && b.null:
		return 0
	case a.null:
		return -1
	case b.null:
		return 1
	}
	return c.less(a, b)
}

// table is rows of some columns.
type table struct {
	columns []testColumn
	rows    [][]value
}

func drawTable(t *rapid.T) table {
	var tab table
	for range rapid.IntRange(1, 4).Draw(t, "columns") {
		tab.columns = append(tab.columns, rapid.SampledFrom(testColumns).Draw(t, "column"))
	}
	for range rapid.IntRange(0, 40).Draw(t, "rows") {
		var row []value
		for _, c := range tab.columns {
			if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
				row = append(row, value{null: true})
			} else {
				row = append(row, c.draw(t))
			}
		}
		tab.rows = append(tab.rows, row)
	}
	return tab
}

func (tab table) definitions() (all []wire.Column) {
	for _, c := range tab.columns {
		all = append(all, c.Column)
	}
	return all
}

func (tab table) encode(rows [][]value, f Format) (all [][][]byte) {
	for _, row := range rows {
		var values [][]byte
		for i, c := range tab.columns {
			values = append(values, c.encode(row[i], f))
		}
		all = append(all, values)
	}
	return all
}
