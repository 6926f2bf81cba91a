package stmt

import "bytes"

type byteClass uint8

const (
	otherByte byteClass = iota
	spaceByte
	wordByte
	digitByte
	quoteByte
)

// class sorts bytes as MySQL's lexer does for ASCII-based character sets: bytes
// from 0x80 up are letters, and so are $, _ and (for our purpose) @.
var class = func() (t [256]byteClass) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = wordByte, wordByte
	}
	for c := 0x80; c < 0x100; c++ {
		t[c] = wordByte
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = digitByte
	}
	t['_'], t['$'], t['@'] = wordByte, wordByte, wordByte
	for _, c := range " \t\r\n\f\v" {
		t[c] = spaceByte
	}
	t['\''], t['"'], t['`'] = quoteByte, quoteByte, quoteByte
	return t
}()

func inName(c byte) bool { return class[c] == wordByte || class[c] == digitByte }

// wordEnd gives the end of the name that goes on at i.
func wordEnd(text []byte, i int) int {
	for i < len(text) && inName(text[i]) {
		i++
	}
	return i
}

// word reads a name or keyword, or a prefixed literal such as X'4D'.
func (l *Lexed) word() {
	start, end := l.pos, wordEnd(l.Text, l.pos)
	if end-start == 1 && !l.afterPoint(start) && end < len(l.Text) && l.Text[end] == '\'' {
		switch l.Text[start] | 0x20 {
		case 'x':
			l.prefixed(start, end, HexLiteral)
			return
		case 'b':
			l.prefixed(start, end, BitLiteral)
			return
		}
	}
	if behind, found := l.introducedEnd(start, end); found {
		if behind < 0 {
			l.Err = errUnterminated
			return
		}
		l.strip(start, behind, IntroducedLiteral)
		return
	}
	first := !l.started
	l.touch()
	l.pos = end
	l.keyword(l.Text[start:end], first)
}

func (l *Lexed) prefixed(start, quote int, kind LiteralKind) {
	n := bytes.IndexByte(l.Text[quote+1:], '\'')
	if n < 0 {
		l.Err = errUnterminated
		return
	}
	l.strip(start, quote+n+2, kind)
}

// keyword follows the few words that the lexer itself must know.
func (l *Lexed) keyword(w []byte, first bool) {
	switch len(w) {
	case 2:
		if isWord(w, "in") {
			l.list = sawIn
		} else if isWord(w, "by") {
			l.by, l.byDepth = byItem, l.depth
		}
	case 3, 5, 6, 7:
		if l.by != noBy && l.depth == l.byDepth && (isWord(w, "limit") || isWord(w, "having")) {
			l.by = noBy
		}
		if l.depth == 0 {
			l.insertWord(w, first)
		}
	}
	if l.insert == betweenRows && !isWord(w, "values") && !isWord(w, "value") {
		l.insert = notInsert
	}
}

func (l *Lexed) insertWord(w []byte, first bool) {
	switch {
	case first && (isWord(w, "insert") || isWord(w, "replace")):
		l.insert = insertHead
	case l.insert == insertHead && (isWord(w, "values") || isWord(w, "value")):
		l.insert = betweenRows
	case l.insert == insertHead && (isWord(w, "select") || isWord(w, "set")):
		l.insert = notInsert
	}
}

// isWord compares without regard to letter case; word is in lower case.
func isWord(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range len(word) {
		if b[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}
