package wire

// SplitTextRow appends views of a text row's values to dst. A NULL becomes nil; an empty value doesn't. It allocates nothing if
// dst has room.
func SplitTextRow(dst [][]byte, payload []byte, columns int) ([][]byte, error) {
	c := cursor{b: payload}
	for range columns {
		dst = append(dst, c.nullable())
	}
	if len(c.b) > 0 {
		c.fail()
	}
	return dst, c.err("text row")
}

// AppendTextRow appends a text row. A nil value is NULL.
func AppendTextRow(dst []byte, seq byte, values [][]byte) ([]byte, byte) {
	start := len(dst)
	dst = Begin(dst)
	for _, v := range values {
		dst = AppendNullable(dst, v)
	}
	return Finish(dst, start, seq)
}
