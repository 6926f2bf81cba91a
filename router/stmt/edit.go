package stmt

import (
	"cmp"
	"slices"
)

// Edit replaces the bytes From to To of a text. An insertion replaces no bytes.
type Edit struct {
	From, To int
	Text     string
}

// Covers reports whether an edit replaces a whole literal.
func (e Edit) Covers(l Literal) bool { return e.From <= int(l.Start) && int(l.End) <= e.To }

// SortEdits sorts edits by their positions in the text, and returns them. An insertion comes before the replacement of the
// text after it: in COUNT(a)FROM t, the field's name comes before another FROM.
func SortEdits(edits []Edit) []Edit {
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return edits
}

// AppendEdited appends a text with edits to dst. The edits are sorted and don't overlap.
func AppendEdited(dst, text []byte, edits []Edit) []byte {
	return AppendPiece(dst, text, 0, len(text), edits)
}

// AppendPiece is AppendEdited for the bytes from to to of a text. The edits are within them.
func AppendPiece(dst, text []byte, from, to int, edits []Edit) []byte {
	for _, e := range edits {
		dst = append(append(dst, text[from:e.From]...), e.Text...)
		from = e.To
	}
	return append(dst, text[from:to]...)
}
