package stmt

// segment is the item that begins at a byte outside of quotes and comments. Lex reads a text in the same way but
// distinguishes more, and is optimized for speed.
type segment struct {
	end  int
	kind segmentKind
}

type segmentKind uint8

const (
	otherSegment segmentKind = iota // one byte
	blankSegment                    // one byte
	wordSegment
	quotedSegment
	commentSegment // or a hint
	endlessSegment // quotes or a comment without an end
)

// segmentAt reads the item that begins at i. A comment that some servers execute counts as a comment.
func segmentAt(t []byte, i int, mode Mode) segment {
	switch c := t[i]; {
	case class[c] == spaceByte:
		return segment{i + 1, blankSegment}
	case startsWord(c):
		end := wordEnd(t, i)
		if end == i+1 && prefixesDigits(t, i) {
			return closedAt(hexEnd(t, end), quotedSegment)
		}
		return segment{end, wordSegment}
	case class[c] == quoteByte:
		return closedAt(quotedEnd(t, i, !mode.names(c) && mode&NoBackslash == 0), quotedSegment)
	case lineComment(t, i):
		return segment{lineEnd(t, i), commentSegment}
	case c == '/' && i+1 < len(t) && t[i+1] == '*':
		return closedAt(blockEnd(t, i), commentSegment)
	}
	return segment{i + 1, otherSegment}
}

// prefixesDigits reports whether the letter at i is the X of X'4D' or the B of B'01'.
func prefixesDigits(t []byte, i int) bool {
	c := t[i] | 0x20
	return (c == 'x' || c == 'b') && i+1 < len(t) && t[i+1] == '\'' && (i == 0 || t[i-1] != '.')
}

func closedAt(end int, kind segmentKind) segment {
	if end < 0 {
		return segment{0, endlessSegment}
	}
	return segment{end, kind}
}
