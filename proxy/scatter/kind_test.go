package scatter

import (
	"cmp"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"pgregory.net/rapid"
)

// The comparison of each kind of column gives the order of the values, however close they are.
func TestCompare(t *testing.T) {
	for _, c := range testColumns {
		for _, f := range []Format{Text, Binary} {
			kind, ok := kindOf(column{c.Type, c.Flags, c.Charset, c.Decimals}, f, false)
			if !ok {
				t.Fatalf("type %d can't be compared", c.Type)
			}
			rapid.Check(t, func(t *rapid.T) {
				a, b := c.draw(t), c.draw(t)
				if near := rapid.Int64Range(-1, 1).Draw(t, "near"); c.less(a, value{i: a.i}) == 0 && a.i != 0 && rapid.Bool().Draw(t, "neighbours") {
					b.i = a.i / 10 * 10 // digits that end elsewhere
					if near < 0 {
						b.i = a.i - a.i%1000000
					}
				}
				x, err1 := kind.read(c.encode(a, f))
				y, err2 := kind.read(c.encode(b, f))
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				if got, want := kind.compare(x, y), cmp.Compare(c.less(a, b), 0); got != want {
					t.Fatalf("type %d, format %d: %q and %q compare as %d, want %d", c.Type, f, c.encode(a, f), c.encode(b, f), got, want)
				}
			})
		}
	}
}

// Dates and times whose parts rise one after another.
func TestCompareTimes(t *testing.T) {
	const second, minute, hour, day = 1_000_000, 60_000_000, 3_600_000_000, 86_400_000_000
	ascending := []int64{0, 1, 10, 99, 100, 123456, 900000, second, second + 1, minute - 1, minute, hour - 1, hour, day - 1, day, day + hour, 2*day - 1, 2 * day, 27 * day, 28 * day, 29*day + 5, 34 * day}
	for _, c := range testColumns {
		for _, f := range []Format{Text, Binary} {
			kind, _ := kindOf(column{c.Type, c.Flags, c.Charset, c.Decimals}, f, false)
			switch c.Type {
			case mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIME:
			default:
				continue
			}
			for i, a := range ascending {
				for j, b := range ascending {
					x, err1 := kind.read(c.encode(value{i: a}, f))
					y, err2 := kind.read(c.encode(value{i: b}, f))
					if got := kind.compare(x, y); err1 != nil || err2 != nil || got != cmp.Compare(i, j) {
						t.Errorf("type %d, format %d: %d and %d microseconds compare as %d", c.Type, f, a, b, got)
					}
				}
			}
		}
	}
}

func TestCompareDecimals(t *testing.T) {
	ascending := []string{"-12345678901234567890.5", "-10", "-9.10", "-9.09", "-0.5", "0", "0.05", "0.5", "1", "1.5", "9", "10", "10.01", "100", "12345678901234567890"}
	for i, a := range ascending {
		for j, b := range ascending {
			if got := compareDecimals([]byte(a), []byte(b)); got != cmp.Compare(i, j) {
				t.Errorf("%s and %s compare as %d", a, b, got)
			}
		}
	}
	for _, equal := range [][2]string{{"0", "-0.00"}, {"1", "1.0"}, {"0.5", ".5"}, {"007", "7.000"}} {
		if compareDecimals([]byte(equal[0]), []byte(equal[1])) != 0 {
			t.Errorf("%s and %s differ", equal[0], equal[1])
		}
	}
}

func TestMalformedTimes(t *testing.T) {
	for _, v := range []string{"", "-", "12", "1:2", "1:2:3:4", "a:b:c", "1.5:2:3"} {
		if _, err := parseTime([]byte(v)); err == nil {
			t.Errorf("%q was read", v)
		}
	}
	for _, k := range []kind{binaryDate, binaryTime} {
		if _, err := k.read(make([]byte, 13)); err == nil {
			t.Error("13 bytes were read as a date or time")
		}
	}
}

// The order of a computed TIMESTAMP, and of byte strings that may be texts, does not show in the answer.
func TestKindsOfComputedColumns(t *testing.T) {
	g := &merger{columns: []column{{typ: mysql.MYSQL_TYPE_TIMESTAMP}, {typ: mysql.MYSQL_TYPE_DATETIME}, {typ: mysql.MYSQL_TYPE_VAR_STRING, charset: binaryCharset}}}
	for _, raw := range []bool{false, true} {
		g.rawTexts = raw
		for i, want := range []bool{false, true, !raw} {
			if _, got := g.kindOf(i, false); got != want {
				t.Errorf("column %d, texts as bytes %t: %t", i, raw, got)
			}
		}
		if _, weighted := g.kindOf(2, true); !weighted {
			t.Error("a sort key that the server computes can't be compared")
		}
	}
}
