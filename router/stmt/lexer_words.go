package stmt

import "bytes"

type byteClass uint8

const (
	otherByte byteClass = iota
	spaceByte
	wordByte
	digitByte
	quoteByte
	// uncertainByte is a byte that servers read in several ways, or treat as an end, outside quotes.
	uncertainByte
)

// class classifies bytes as the servers' lexers do for ASCII-based character sets. Bytes from 0x80 up are letters
// (checked by certainName), and so are $ and _.
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
	t['_'], t['$'] = wordByte, wordByte
	for c := range ' ' {
		t[c] = uncertainByte
	}
	// A backslash begins MariaDB's \N, and [ begins a name if sql_mode is MSSQL.
	t[0x7f], t['\\'], t['['] = uncertainByte, uncertainByte, uncertainByte
	for _, c := range " \t\r\n\f\v" {
		t[c] = spaceByte
	}
	t['\''], t['"'], t['`'] = quoteByte, quoteByte, quoteByte
	return t
}()

func inName(c byte) bool { return class[c] == wordByte || class[c] == digitByte }

// startsWord reports whether a byte can start a name, a keyword or a variable.
func startsWord(c byte) bool { return inName(c) || c == '@' }

// wordEnd returns the end of the name or variable that begins or continues at i.
func wordEnd(text []byte, i int) int {
	for i < len(text) && text[i] == '@' {
		i++
	}
	for i < len(text) && inName(text[i]) {
		i++
	}
	return i
}

// word reads a name or keyword, or a prefixed literal such as X'4D'.
func (l *Lexed) word() {
	start, end := l.pos, l.readName(l.pos)
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
	if l.Text[start] == '_' || end-start == 1 { // only N and words with an underscore introduce a string
		if behind, found := l.introducedEnd(start, end); found {
			if behind < 0 {
				l.Err = errUnterminated
				return
			}
			l.strip(start, behind, IntroducedLiteral)
			return
		}
	}
	if l.Text[start] == '$' && bytes.IndexByte(l.Text[start+1:end], '$') >= 0 && !l.afterPoint(start) {
		l.uncertain(start, "a $ that may open a string of MySQL's: quote the name with backquotes")
		return
	}
	first := !l.started
	l.touch()
	l.pos = end
	if first && isWord(l.Text[start:end], "set") {
		l.limited(end)
	}
	if l.limitEnd == end && end > 0 {
		l.asides, l.started = append(l.asides[:0], aside{0, int32(end)}), false
		return
	}
	l.keyword(l.Text[start:end], first)
}

func (l *Lexed) prefixed(start, quote int, kind LiteralKind) {
	end := hexEnd(l.Text, quote)
	if end < 0 {
		l.Err = errUnterminated
		return
	}
	l.strip(start, end, kind)
}

// hexEnd returns the offset behind the next quote, or -1. Two quotes in a row are two literals.
func hexEnd(t []byte, quote int) int {
	n := bytes.IndexByte(t[quote+1:], '\'')
	if n < 0 {
		return -1
	}
	return quote + n + 2
}

// keyword handles the few words that the lexer itself must know.
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

// isWord compares without regard to case. word is in lower case.
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
