package changes

import (
	"fmt"
	"strconv"

	"github.com/go-mysql-org/go-mysql/utils"

	"locus/migrate/table"
)

// valueOf converts a value of the log's decoder to its canonical form. The log itself shows neither signedness nor the
// length of BINARY; the column does.
func valueOf(c *table.Column, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return textOf(c, utils.StringToByteSlice(v)), nil
	case []byte:
		return textOf(c, v), nil
	case float32:
		return table.AppendFloat(nil, float64(v)), nil
	case float64:
		return table.AppendFloat(nil, v), nil
	}
	n, width, ok := integerOf(v)
	switch {
	case !ok:
		return nil, fmt.Errorf("column %s: the log has a %T, which is not understood", c.Name, v)
	case c.DataType == "year":
		return fmt.Appendf(nil, "%04d", n), nil
	case c.Unsigned && width < 64:
		if c.DataType == "mediumint" {
			width = 24
		}
		return strconv.AppendUint(nil, uint64(n)&(1<<width-1), 10), nil
	case c.Unsigned || c.DataType == "bit" || c.DataType == "set" || c.DataType == "enum":
		return strconv.AppendUint(nil, uint64(n), 10), nil
	}
	return strconv.AppendInt(nil, n, 10), nil
}

func integerOf(v any) (n int64, width uint, ok bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), 8, true
	case int16:
		return int64(v), 16, true
	case int32:
		return int64(v), 32, true
	case int64:
		return v, 64, true
	case int:
		return int64(v), 64, true
	case uint8:
		return int64(v), 8, true
	case uint16:
		return int64(v), 16, true
	case uint32:
		return int64(v), 32, true
	case uint64:
		return int64(v), 64, true
	}
	return 0, 0, false
}

// textOf restores BINARY's trailing zeros, which the log omits.
func textOf(c *table.Column, v []byte) []byte {
	if v == nil {
		v = []byte{}
	}
	if c.Bytes > len(v) {
		padded := make([]byte, c.Bytes)
		copy(padded, v)
		return padded
	}
	return v
}
