package scatter

import (
	"bytes"
	"cmp"
)

// compareDecimals compares two decimals in the server's text form, with any number of digits. It doesn't convert them.
func compareDecimals(a, b []byte) int {
	x, y := magnitude(a), magnitude(b)
	c := x.compare(y)
	switch {
	case x.zero() && y.zero():
		return 0
	case x.negative != y.negative && x.negative:
		return -1
	case x.negative != y.negative:
		return 1
	case x.negative:
		return -c
	}
	return c
}

// parts are a decimal's digits without insignificant zeros.
type parts struct {
	negative        bool
	whole, fraction []byte
}

func magnitude(v []byte) parts {
	var p parts
	if len(v) > 0 && (v[0] == '-' || v[0] == '+') {
		p.negative = v[0] == '-'
		v = v[1:]
	}
	p.whole, p.fraction, _ = bytes.Cut(v, []byte{'.'})
	p.whole = bytes.TrimLeft(p.whole, "0")
	p.fraction = bytes.TrimRight(p.fraction, "0")
	return p
}

func (p parts) zero() bool { return len(p.whole) == 0 && len(p.fraction) == 0 }

func (p parts) compare(q parts) int {
	if c := cmp.Compare(len(p.whole), len(q.whole)); c != 0 {
		return c
	}
	if c := bytes.Compare(p.whole, q.whole); c != 0 {
		return c
	}
	return bytes.Compare(p.fraction, q.fraction)
}
