package wire

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestLenIntGolden(t *testing.T) {
	for _, c := range []struct {
		v     uint64
		bytes []byte
	}{
		{0, []byte{0}},
		{250, []byte{250}},
		{251, []byte{0xfc, 251, 0}},
		{0xffff, []byte{0xfc, 0xff, 0xff}},
		{0x10000, []byte{0xfd, 0, 0, 1}},
		{0xffffff, []byte{0xfd, 0xff, 0xff, 0xff}},
		{0x1000000, []byte{0xfe, 0, 0, 0, 1, 0, 0, 0, 0}},
		{math.MaxUint64, []byte{0xfe, 255, 255, 255, 255, 255, 255, 255, 255}},
	} {
		if got := AppendLenInt(nil, c.v); !bytes.Equal(got, c.bytes) {
			t.Errorf("%d is % x, want % x", c.v, got, c.bytes)
		}
		if v, n := LenInt(c.bytes); v != c.v || n != len(c.bytes) {
			t.Errorf("% x read as %d of %d bytes", c.bytes, v, n)
		}
		for cut := range len(c.bytes) {
			if _, n := LenInt(c.bytes[:cut]); n != 0 {
				t.Errorf("% x cut to %d bytes was accepted", c.bytes, cut)
			}
		}
	}
	for _, b := range [][]byte{nil, {0xfb}, {0xff}, {0xff, 1, 2, 3, 4, 5, 6, 7, 8}} {
		if _, n := LenInt(b); n != 0 {
			t.Errorf("% x is no integer", b)
		}
	}
}

func TestLenBytesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Ptr(rapid.SliceOfN(rapid.Byte(), 0, 300), true)).Draw(t, "values")
		var b []byte
		for _, v := range values {
			if v == nil {
				b = AppendNullable(b, nil)
			} else {
				b = AppendNullable(b, append([]byte{}, *v...))
			}
		}
		for i, v := range values {
			got, n := LenBytes(b)
			if n == 0 || (got == nil) != (v == nil) || v != nil && !bytes.Equal(got, *v) {
				t.Fatalf("value %d: got %x", i, got)
			}
			if v != nil && n != lenBytesSize(*v) {
				t.Fatalf("value %d takes %d bytes, not %d", i, n, lenBytesSize(*v))
			}
			if cut, m := LenBytes(b[:n-1]); m != 0 {
				t.Fatalf("value %d: a truncated string was read as %x", i, cut)
			}
			b = b[n:]
		}
	})
}

func TestLenBytesRefusesLengthsBeyondTheAddressSpace(t *testing.T) {
	if v, n := LenBytes([]byte{0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 'x'}); n != 0 {
		t.Errorf("read %q", v)
	}
}
