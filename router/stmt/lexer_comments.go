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

// lineComment tells whether a comment up to the line's end begins there. A byte
// behind -- that is neither blank nor the text's end is none for sure, or refused.
func lineComment(t []byte, i int) bool {
	return t[i] == '#' || t[i] == '-' && i+1 < len(t) && t[i+1] == '-' && (i+2 == len(t) || class[t[i+2]] == spaceByte)
}

// behindMinuses tells whether two minus signs stand right before a place: a blank there
// makes a line's comment of them.
func behindMinuses(t []byte, at int) bool { return at >= 2 && t[at-1] == '-' && t[at-2] == '-' }

// commentBehindMinuses: the parser reads blanks in the place of comments and hints.
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

// conditional tells the beginning of a comment that some servers run.
func conditional(t []byte, i int) bool {
	return bytes.HasPrefix(t[i:], []byte("/*!")) || bytes.HasPrefix(t[i:], []byte("/*M!"))
}

// blockEnd gives the offset behind the comment that begins at i, or -1.
func blockEnd(t []byte, i int) int {
	n := bytes.Index(t[i+2:], []byte("*/"))
	if n < 0 {
		return -1
	}
	return i + 2 + n + 2
}

// hint steps over an optimizer's hint, which stays in the key. Servers that read it
// may look for its end behind a quoted name, so that must not be in doubt.
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

// semicolon ends the statement; whatever stands behind it is another one.
func (l *Lexed) semicolon() {
	if bytes.HasSuffix(l.Text[:l.pos], []byte("--")) { // a statement's end makes a comment of them
		l.uncertain(l.pos, "a semicolon right behind two minus signs: write a blank between them")
		return
	}
	l.touch()
	l.pos++
	switch {
	case l.Several:
	case onlyBlanks(l.Text[l.pos:]):
		l.pos = len(l.Text) // each of a million semicolons would look at those behind it
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
