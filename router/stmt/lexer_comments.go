package stmt

import "bytes"

func lineEnd(t []byte, i int) int {
	if n := bytes.IndexByte(t[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(t)
}

func (l *Lexed) minus() {
	t, i := l.Text, l.pos
	if i+1 < len(t) && t[i+1] == '-' && (i+2 == len(t) || t[i+2] <= ' ') {
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
	rest := t[i+2:]
	if bytes.HasPrefix(rest, []byte("!")) || bytes.HasPrefix(rest, []byte("M!")) {
		l.executable(bytes.IndexByte(rest, '!') + 1)
		return
	}
	n := bytes.Index(rest, []byte("*/"))
	switch end := i + 2 + n + 2; {
	case n < 0:
		l.Err = errUnterminated
	case rest[0] == '+':
		l.touch()
		l.asides = append(l.asides, aside{int32(i), int32(end)})
		l.pos = end
	default:
		l.comment(i, end)
	}
}

// executable steps over the opening of a comment whose text is executed, so
// that what is inside is read like any other text.
func (l *Lexed) executable(skip int) {
	l.touch()
	start := l.pos
	l.Uncacheable, l.wrapped = true, true
	l.pos += 2 + skip
	digits := digitsEnd(l.Text, l.pos) - l.pos
	if digits >= 5 { // else they are SQL
		l.pos += min(digits, 6)
	}
	l.Executable = l.Executable || skip > 1 || digits != 5 || string(l.Text[l.pos-5:l.pos]) >= anyServer
	l.asides = append(l.asides, aside{int32(start), int32(l.pos)})
}

// anyServer: text for versions before this one is executed by every server there
// is. MariaDB leaves out what is for later MySQLs.
const anyServer = "50700"

// star reads *, and the end of an executable comment.
func (l *Lexed) star() {
	l.touch()
	if l.wrapped && l.pos+1 < len(l.Text) && l.Text[l.pos+1] == '/' {
		l.asides = append(l.asides, aside{int32(l.pos), int32(l.pos + 2)})
		l.wrapped = false
		l.pos++
	}
	l.pos++
}

// semicolon ends the statement; whatever stands behind it is another one.
func (l *Lexed) semicolon() {
	l.touch()
	l.pos++
	if !onlyBlanks(l.Text[l.pos:]) {
		l.Several = true
		l.Uncacheable = true
	}
}

func onlyBlanks(t []byte) bool {
	for _, c := range t {
		if class[c] != spaceByte && c != ';' && c != 0 {
			return false
		}
	}
	return true
}
