package stmt

import "unicode/utf8"

// number reads a numeric literal, or a name that begins with a digit.
func (l *Lexed) number() {
	t, start := l.Text, l.pos
	if l.afterPoint(start) {
		l.touch()
		l.pos = l.readName(start)
		return
	}
	end, kind := numberEnd(t, start)
	if end < len(t) && inName(t[end]) {
		l.digitName(start, end, kind)
		return
	}
	if kind == IntLiteral && l.by == byItem {
		l.touch() // a field number, which remains in the key
		l.pos = end
		return
	}
	l.strip(start, end, kind)
}

// digitName reads a name that begins with a digit. It refuses a text that servers read as a number and a word, or that the
// parser reads differently from servers.
func (l *Lexed) digitName(start, end int, kind LiteralKind) {
	t := l.Text
	prefixed := t[start] == '0' && start+1 < len(t) && (t[start+1]|0x20 == 'x' || t[start+1]|0x20 == 'b')
	if kind != IntLiteral || prefixed || t[end]|0x20 == 'e' {
		l.uncertain(end, "a number with letters behind it: put a blank between them, or quote the name with backquotes")
		return
	}
	l.touch()
	l.pos = l.readName(end)
}

// afterPoint reports whether i is the start of the second part of a qualified name, which may look like a number or like
// X'4D'.
func (l *Lexed) afterPoint(i int) bool { return i > 0 && l.Text[i-1] == '.' }

func numberEnd(t []byte, i int) (int, LiteralKind) {
	if t[i] == '0' && i+1 < len(t) && (t[i+1] == 'x' || t[i+1] == 'b') {
		kind := HexLiteral
		if t[i+1] == 'b' {
			kind = BitLiteral
		}
		if end := prefixedDigits(t, i+2, kind); end > i+2 {
			return end, kind
		}
	}
	kind := IntLiteral
	i = digitsEnd(t, i)
	if i < len(t) && t[i] == '.' {
		kind = DecimalLiteral
		i = digitsEnd(t, i+1)
	}
	if i+1 < len(t) && t[i]|0x20 == 'e' {
		j := i + 1
		if t[j] == '+' || t[j] == '-' {
			j++
		}
		if end := digitsEnd(t, j); end > j {
			return end, FloatLiteral
		}
	}
	return i, kind
}

func digitsEnd(t []byte, i int) int {
	for i < len(t) && class[t[i]] == digitByte {
		i++
	}
	return i
}

func prefixedDigits(t []byte, i int, kind LiteralKind) int {
	for i < len(t) {
		c := t[i]
		hex := class[c] == digitByte || (c|0x20 >= 'a' && c|0x20 <= 'f')
		if (kind == HexLiteral && !hex) || (kind == BitLiteral && c != '0' && c != '1') {
			break
		}
		i++
	}
	return i
}

// quoted reads a string or a quoted name.
func (l *Lexed) quoted(quote byte) {
	start := l.pos
	if l.Mode.names(quote) {
		l.quotedName(start)
		return
	}
	end := quotedEnd(l.Text, start, l.Mode&NoBackslash == 0)
	if end < 0 {
		l.Err = errUnterminated
		return
	}
	l.strip(start, end, StringLiteral)
}

// names reports whether a quote encloses names.
func (m Mode) names(quote byte) bool { return quote == '`' || quote == '"' && m&AnsiQuotes != 0 }

func (l *Lexed) quotedName(start int) {
	t, quote, seen := l.Text, l.Text[start], byte(0)
	for i := start + 1; i < len(t); i++ {
		seen |= t[i]
		if t[i] != quote {
			continue
		}
		if i+1 < len(t) && t[i+1] == quote {
			i++
			continue
		}
		if seen >= utf8.RuneSelf && !l.certainQuoted(start, i) {
			return
		}
		l.touch()
		if l.insert == betweenRows {
			l.insert = notInsert
		}
		l.pos = i + 1
		return
	}
	l.Err = errUnterminated
}

// quotedEnd returns the offset behind the closing quote, or -1.
func quotedEnd(t []byte, start int, backslash bool) int {
	quote := t[start]
	for i := start + 1; i < len(t); i++ {
		switch {
		case t[i] == '\\' && backslash:
			i++
		case t[i] != quote:
		case i+1 < len(t) && t[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return -1
}
