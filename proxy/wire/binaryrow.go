package wire

import "github.com/go-mysql-org/go-mysql/mysql"

// rowBitmapOffset is the number of unused bits at the start of a binary row's NULL bitmap.
const rowBitmapOffset = 2

// SplitBinaryRow appends views of a binary row's values to dst. types holds each column's Type. A NULL becomes nil. Any other
// value is its bytes without a length, as [AppendBinaryRow] expects them.
func SplitBinaryRow(dst [][]byte, payload []byte, types []byte) ([][]byte, error) {
	c := cursor{b: payload}
	if c.u8() != mysql.OK_HEADER {
		c.fail()
	}
	nulls := c.take(bitmapSize(len(types) + rowBitmapOffset))
	for i, typ := range types {
		if c.bad || bit(nulls, i+rowBitmapOffset) {
			dst = append(dst, nil)
			continue
		}
		dst = append(dst, c.value(typ))
	}
	if len(c.b) > 0 {
		c.fail()
	}
	return dst, c.err("binary row")
}

// AppendBinaryRow appends a binary row with the given values and types. A nil value is NULL. Values of SplitBinaryRow can be
// passed on, also a subset of them or in another order.
func AppendBinaryRow(dst []byte, seq byte, values [][]byte, types []byte) ([]byte, byte) {
	start := len(dst)
	dst = append(Begin(dst), mysql.OK_HEADER)
	nulls := len(dst)
	dst = appendZeros(dst, bitmapSize(len(values)+rowBitmapOffset))
	for i, v := range values {
		if v == nil {
			setBit(dst[nulls:], i+rowBitmapOffset)
			continue
		}
		dst = appendValue(dst, types[i], v)
	}
	return Finish(dst, start, seq)
}

func bitmapSize(bits int) int       { return (bits + 7) / 8 }
func bit(bitmap []byte, i int) bool { return bitmap[i/8]&(1<<(i%8)) != 0 }
func setBit(bitmap []byte, i int)   { bitmap[i/8] |= 1 << (i % 8) }

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, 0)
	}
	return dst
}
