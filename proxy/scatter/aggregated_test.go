package scatter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"pgregory.net/rapid"

	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

var (
	countColumn   = testColumns[0]
	decimalColumn = testColumns[5]
	doubleColumn  = testColumns[6]
	averageColumn = wire.Column{Type: mysql.MYSQL_TYPE_NEWDECIMAL, Charset: binaryCharset, Decimals: 6}
)

func drawRows(t *rapid.T, c testColumn) []value {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) value {
		if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
			return value{null: true}
		}
		return c.draw(t)
	}), 0, 12).Draw(t, "values")
}

// cents aggregates decimals of two places plainly.
type cents struct {
	count    int64
	sum      *big.Int
	min, max value
}

func aggregate(c testColumn, rows []value) cents {
	a := cents{sum: new(big.Int), min: value{null: true}, max: value{null: true}}
	for _, v := range rows {
		if v.null {
			continue
		}
		a.count++
		a.sum.Add(a.sum, big.NewInt(v.i))
		if a.min.null || c.less(v, a.min) < 0 {
			a.min = v
		}
		if a.max.null || c.less(v, a.max) > 0 {
			a.max = v
		}
	}
	return a
}

func (a cents) average() []byte {
	if a.count == 0 {
		return nil
	}
	return []byte(new(big.Rat).SetFrac(a.sum, big.NewInt(100*a.count)).FloatString(6)) // rounds a half away from zero
}

func (a cents) sumText() []byte {
	if a.count == 0 {
		return nil
	}
	return []byte(new(big.Rat).SetFrac(a.sum, big.NewInt(100)).FloatString(2))
}

// row returns a server's answer to COUNT, SUM, MIN, MAX, AVG, and the hidden SUM and COUNT.
func (a cents) row(f Format) [][]byte {
	count := countColumn.encode(value{i: a.count}, f)
	return [][]byte{
		count, a.sumText(), decimalColumn.encode(a.min, f), decimalColumn.encode(a.max, f), a.average(), a.sumText(), count,
	}
}

var (
	allAggregates = &plan.Merge{Kind: plan.Aggregated, Hidden: 2, Fields: []plan.Combined{
		{Function: stmt.Count}, {Function: stmt.Sum}, {Function: stmt.Min}, {Function: stmt.Max}, {Function: stmt.Avg, Sum: 0, Count: 1},
	}}
	aggregateColumns = []wire.Column{
		countColumn.Column, decimalColumn.Column, decimalColumn.Column, decimalColumn.Column, averageColumn, decimalColumn.Column, countColumn.Column,
	}
)

func TestAggregated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom([]Format{Text, Binary}).Draw(t, "format")
		var all []value
		var shards []*fakeShard
		for i := range rapid.IntRange(1, 4).Draw(t, "shards") {
			rows := drawRows(t, decimalColumn)
			all = append(all, rows...)
			answer := result(aggregateColumns, f, [][][]byte{aggregate(decimalColumn, rows).row(f)}, wire.EOF{})
			shards = append(shards, newShard(fmt.Sprint(i), answer, []int{rapid.IntRange(1, 100).Draw(t, "chunk")}, false))
		}
		got, o, err := run(shards, allAggregates, f, plan.Window{}, mysql.CLIENT_PROTOCOL_41)
		for _, s := range shards {
			s.close()
		}
		want := shown(aggregate(decimalColumn, all).row(f)[:5])
		if err != nil || got.cut != nil || len(got.rows) != 1 || !slices.Equal(got.rows[0], want) {
			t.Fatalf("%v, %v: %q, want %q", err, got.cut, got.rows, want)
		}
		if slices.Contains(o.Clean, false) {
			t.Fatalf("%+v", o)
		}
	})
}

// MIN and MAX of every kind of column.
func TestExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(testColumns).Draw(t, "column")
		f := rapid.SampledFrom([]Format{Text, Binary}).Draw(t, "format")
		var all []value
		var shards []*fakeShard
		for i := range rapid.IntRange(1, 4).Draw(t, "shards") {
			rows := drawRows(t, c)
			all = append(all, rows...)
			a := aggregate(c, rows)
			answer := result([]wire.Column{c.Column, c.Column}, f, [][][]byte{{c.encode(a.min, f), c.encode(a.max, f)}}, wire.EOF{})
			shards = append(shards, newShard(fmt.Sprint(i), answer, []int{1000}, false))
		}
		m := &plan.Merge{Kind: plan.Aggregated, Fields: []plan.Combined{{Function: stmt.Min}, {Function: stmt.Max}}}
		got, _, err := run(shards, m, f, plan.Window{}, 0)
		for _, s := range shards {
			s.close()
		}
		a := aggregate(c, all)
		if err != nil || len(got.rows) != 1 || !same(c, f, got.rows[0][0], a.min) || !same(c, f, got.rows[0][1], a.max) {
			t.Fatalf("%v: %q, want %v and %v", err, got.rows, a.min, a.max)
		}
	})
}

// same compares a value that a client got with the expected one; 0 and -0 are equal.
func same(c testColumn, f Format, got string, want value) bool {
	return got == shown([][]byte{c.encode(want, f)})[0] ||
		c.Type == mysql.MYSQL_TYPE_DOUBLE && want.f == 0 && (got == "|0" || got == "|-0" || len(got) == 9)
}

// Doubles are added up and divided as doubles, and written as servers do.
func TestDoubles(t *testing.T) {
	m := &plan.Merge{Kind: plan.Aggregated, Hidden: 2, Fields: []plan.Combined{{Function: stmt.Sum}, {Function: stmt.Avg, Sum: 0, Count: 1}}}
	columns := []wire.Column{doubleColumn.Column, doubleColumn.Column, doubleColumn.Column, countColumn.Column}
	for _, f := range []Format{Text, Binary} {
		var shards []*fakeShard
		for _, v := range []value{{f: 1e15}, {null: true}, {f: 0.5}} {
			n := value{i: 2}
			if v.null {
				n.i = 0
			}
			row := [][]byte{doubleColumn.encode(v, f), doubleColumn.encode(v, f), doubleColumn.encode(v, f), countColumn.encode(n, f)}
			shards = append(shards, newShard("s", result(columns, f, [][][]byte{row}, wire.EOF{}), []int{9}, false))
		}
		got, _, err := run(shards, m, f, plan.Window{}, 0)
		closeAll(t, shards)
		want := []string{"|1.0000000000000005e15", "|250000000000000.12"}
		if f == Binary {
			want = nil
			for _, v := range []float64{1e15 + 0.5, (1e15 + 0.5) / 4} {
				want = append(want, "|"+string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))))
			}
		}
		if err != nil || !slices.Equal(got.rows[0], want) {
			t.Errorf("%v: %q, want %q", err, got.rows, want)
		}
	}
}

func TestAppendDouble(t *testing.T) {
	for want, v := range map[string]float64{
		"0": 0, "1": 1, "-1.5": -1.5, "0.1": 0.1, "100000000000000": 1e14, "999999999999999": 999999999999999,
		"1e15": 1e15, "1.5e15": 1.5e15, "0.000000000000001": 1e-15, "1e-16": 1e-16, "-1.7976931348623157e308": -math.MaxFloat64,
		"123456789012345.67": 123456789012345.67,
	} {
		if got := string(appendDouble(nil, v, notFixed)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if back, err := strconv.ParseFloat(want, 64); err != nil || back != v {
			t.Errorf("%s reads back as %v", want, back)
		}
	}
	if got := string(appendDouble(nil, -2.675, 2)); got != "-2.67" { // the binary value is below the half
		t.Error(got)
	}
}

func TestAggregateWithLimit(t *testing.T) {
	one := aggregate(decimalColumn, []value{{i: 150}}).row(Text)
	for _, c := range []struct {
		limit plan.Window
		rows  [][][]byte // of each shard
		want  int
	}{
		{plan.Window{Offset: 0, Count: 1, Set: true}, [][][]byte{one}, 1},
		{plan.Window{Offset: 0, Count: 0, Set: true}, nil, 0},
		{plan.Window{Offset: 0, Count: 0, Set: true}, [][][]byte{one}, 0},
		{plan.Window{Offset: 1, Count: 5, Set: true}, [][][]byte{one}, 0},
	} {
		var shards []*fakeShard
		for range 2 {
			shards = append(shards, newShard("s", result(aggregateColumns, Text, c.rows, wire.EOF{}), []int{100}, false))
		}
		got, _, err := run(shards, allAggregates, Text, c.limit, 0)
		closeAll(t, shards)
		if err != nil || got.cut != nil || len(got.rows) != c.want {
			t.Errorf("%+v: %v, %v, %d rows", c, err, got.cut, len(got.rows))
		}
	}
}

// If a shard returns no row, or two, the merge fails instead of returning a wrong count.
func TestAggregateRows(t *testing.T) {
	one := aggregate(decimalColumn, []value{{i: 150}}).row(Text)
	for _, rows := range [][][][]byte{nil, {one, one}} {
		shards := []*fakeShard{
			newShard("s0", result(aggregateColumns, Text, [][][]byte{one}, wire.EOF{}), []int{100}, false),
			newShard("s1", result(aggregateColumns, Text, rows, wire.EOF{}), []int{100}, false),
		}
		_, o, err := run(shards, allAggregates, Text, plan.Window{}, 0)
		closeAll(t, shards)
		if _, ok := errors.AsType[*plan.Refusal](err); !ok || o.Sent || slices.Contains(o.Clean, false) {
			t.Errorf("%d rows: %v, %+v", len(rows), err, o)
		}
	}
}
