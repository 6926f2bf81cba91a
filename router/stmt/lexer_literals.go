package stmt

// number reads a numeric literal, or a name that begins with a digit.
func (l *Lexed) number() {
	t, start := l.Text, l.pos
	if l.afterPoint(start) {
		l.touch()
		l.pos = wordEnd(t, start)
		return
	}
	end, kind := numberEnd(t, start)
	if end < len(t) && inName(t[end]) {
		l.touch()
		l.pos = wordEnd(t, end)
		return
	}
	if kind == IntLiteral && l.by == byItem {
		l.touch() // it counts fields and stays in the key
		l.pos = end
		return
	}
	l.strip(start, end, kind)
}

// afterPoint tells whether what begins at i is the second part of a qualified
// name, which may look like a number or like X'4D'.
func (l *Lexed) afterPoint(i int) bool {
	t := l.Text
	return i > 1 && t[i-1] == '.' && (inName(t[i-2]) || t[i-2] == '`')
}

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
	name := quote == '`' || (quote == '"' && l.Mode&AnsiQuotes != 0)
	end := quotedEnd(l.Text, start, !name && l.Mode&NoBackslash == 0)
	switch {
	case end < 0:
		l.Err = errUnterminated
	case name:
		l.touch()
		if l.insert == betweenRows {
			l.insert = notInsert
		}
		l.pos = end
	default:
		l.strip(start, end, StringLiteral)
	}
}

// quotedEnd gives the offset behind the closing quote, or -1.
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
