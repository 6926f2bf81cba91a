package stmt

import (
	"bytes"
	"unicode/utf8"
)

func lineEnd(t []byte, i int) int {
	if n := bytes.IndexByte(t[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(t)
}

// lineComment reports whether a comment up to the end of the line begins at i. If -- is followed by a byte that is
// neither a blank nor the end of the text, it is certainly no comment, or it is refused.
func lineComment(t []byte, i int) bool {
	return t[i] == '#' || t[i] == '-' && i+1 < len(t) && t[i+1] == '-' && (i+2 == len(t) || class[t[i+2]] == spaceByte)
}

// behindMinuses reports whether two minus signs directly precede a position. A blank there would make them a line
// comment.
func behindMinuses(t []byte, at int) bool { return at >= 2 && t[at-1] == '-' && t[at-2] == '-' }

// commentBehindMinuses is refused because the parser sees blanks in place of comments and hints.
const commentBehindMinuses = "a comment right behind two minus signs: put a blank between the two signs"

func (l *Lexed) minus() {
	t, i := l.Text, l.pos
	if lineComment(t, i) {
		l.comment(i, lineEnd(t, i))
		return
	}
	sign := l.insert == inRow && l.cellHas == cellEmpty
	l.touch()
	if sign {
		l.cellHas = cellSign
	}
	l.pos++
}

func (l *Lexed) slash() {
	t, i := l.Text, l.pos
	if i+1 >= len(t) || t[i+1] != '*' {
		l.touch()
		l.pos++
		return
	}
	end := blockEnd(t, i)
	switch {
	case conditional(t, i):
		l.Conditional = true
		l.uncertain(i, "a comment that some servers run: write what it says, or leave it out")
	case end < 0:
		l.Err = errUnterminated
	case t[i+2] == '+':
		l.hint(i, end)
	default:
		l.comment(i, end)
	}
}

// conditional reports whether a comment that some servers execute begins at i.
func conditional(t []byte, i int) bool {
	return bytes.HasPrefix(t[i:], []byte("/*!")) || bytes.HasPrefix(t[i:], []byte("/*M!"))
}

// blockEnd returns the offset behind the comment that begins at i, or -1.
func blockEnd(t []byte, i int) int {
	n := bytes.Index(t[i+2:], []byte("*/"))
	if n < 0 {
		return -1
	}
	return i + 2 + n + 2
}

// hint skips an optimizer hint, which remains in the key. Servers that read it may search for its end behind a quoted
// name, so its end must be unambiguous.
func (l *Lexed) hint(start, end int) {
	if behindMinuses(l.Text, start) {
		l.uncertain(start, commentBehindMinuses)
		return
	}
	quote, seen := byte(0), byte(0)
	for i := start + len("/*+"); i < end-len("*/"); i++ {
		c := l.Text[i]
		seen |= c
		switch {
		case class[c] == uncertainByte:
			l.uncertain(i, "a hint that servers may read in several ways: leave it out")
			return
		case quote == 0 && class[c] == quoteByte:
			quote = c
		case c == quote:
			quote = 0
		}
	}
	switch {
	case quote != 0:
		l.uncertain(start, "a hint with a quote that has no second one: its end is in doubt; leave it out")
		return
	case seen >= utf8.RuneSelf && !l.certainName(start, end):
		return
	}
	l.touch()
	l.asides = append(l.asides, aside{int32(start), int32(end)})
	l.pos = end
}

// semicolon ends the statement. Anything behind it is another statement.
func (l *Lexed) semicolon() {
	if bytes.HasSuffix(l.Text[:l.pos], []byte("--")) { // the end of a statement turns them into a comment
		l.uncertain(l.pos, "a semicolon right behind two minus signs: write a blank between them")
		return
	}
	l.touch()
	l.pos++
	switch {
	case l.Several:
	case onlyBlanks(l.Text[l.pos:]):
		l.pos = len(l.Text) // otherwise each of a million semicolons would scan those behind it
	default:
		l.Several = true
		l.Uncacheable = true
	}
}

func onlyBlanks(t []byte) bool {
	for _, c := range t {
		if class[c] != spaceByte && c != ';' {
			return false
		}
	}
	return true
}
