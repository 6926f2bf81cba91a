package orderid

import (
	"errors"
	"fmt"
)

// OfLength reads an ID from a column that holds IDs of both narrow, an 8-byte layout, and bytes16. The number of bytes
// determines the layout.
func OfLength(narrow Layout, b []byte) (Layout, ID, error) {
	if narrow.IsZero() || narrow.bytes != 8 {
		return Layout{}, ID{}, errors.New("a column of both lengths has a layout of 8 bytes beside bytes16")
	}
	l := narrow
	switch len(b) {
	case 8:
	case 16:
		l = layouts[len(layouts)-1]
	default:
		return Layout{}, ID{}, fmt.Errorf("%d bytes are no ID: a column of both lengths holds 8 or 16", len(b))
	}
	id, err := l.FromBytes(b)
	return l, id, err
}
