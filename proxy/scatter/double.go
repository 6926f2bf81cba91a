package scatter

import (
	"bytes"
	"math"
	"strconv"
)

// notFixed is the decimals value of a column without a fixed number of decimals.
const notFixed = 31

// appendDouble formats a DOUBLE as servers do (my_gcvt and my_fcvt of MySQL's strings/dtoa.cc). It writes the shortest
// text that reads back as the same number. It uses an exponent if the decimal point would be more than 15 digits away.
//
// Servers write 0 for a sum that has overflowed.
func appendDouble(dst []byte, v float64, decimals byte) []byte {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		v = 0
	}
	if decimals < notFixed {
		return strconv.AppendFloat(dst, v, 'f', int(decimals), 64)
	}
	var scratch [32]byte
	short := strconv.AppendFloat(scratch[:0], v, 'e', -1, 64)
	mantissa, exponent, _ := bytes.Cut(short, []byte{'e'})
	e, _ := strconv.Atoi(string(exponent))
	if point := e + 1; point >= -14 && point <= 15 {
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	dst = append(append(dst, mantissa...), 'e')
	return strconv.AppendInt(dst, int64(e), 10)
}
