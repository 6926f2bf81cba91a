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

func (l *Lexed) punctuation(c byte) {
	switch c {
	case '(':
		l.open()
	case ')':
		l.close()
	case ',':
		l.comma()
	case '?':
		l.strip(l.pos, l.pos+1, ParamLiteral)
	case '.':
		l.point()
	case '#':
		l.comment(l.pos, lineEnd(l.Text, l.pos))
	case '-':
		l.minus()
	case '/':
		l.slash()
	case ';':
		l.semicolon()
	case '*':
		l.star()
	default:
		l.touch()
		l.pos++
	}
}

func (l *Lexed) open() {
	switch l.insert {
	case betweenRows:
		l.openRow()
		return
	case inRow:
		l.cellHas = cellOther
	case notInsert, insertHead:
	}
	l.started = true
	if l.by == byItem {
		l.by = withinItem
	}
	l.deeper()
	l.pos++
	if l.list == sawIn {
		l.list = openList
	} else {
		l.list = noList
	}
}

func (l *Lexed) deeper() {
	l.depth++
	l.deepest = max(l.deepest, l.depth)
}

func (l *Lexed) openRow() {
	l.insert = inRow
	l.deeper()
	l.list = noList
	l.flush(l.pos)
	l.rowKey = len(l.Key)
	l.Rows = append(l.Rows, Row{
		Open: int32(l.pos), First: int32(len(l.Cells)), slot: int32(len(l.Slots)), simple: true,
	})
	l.pos++
	l.beginCell()
}

func (l *Lexed) beginCell() {
	l.cell = Cell{Start: int32(l.pos), Literal: -1}
	l.cellHas = cellEmpty
}

func (l *Lexed) endCell() {
	l.cell.End = int32(l.pos)
	if l.cellHas != cellLiteral {
		l.cell.Literal, l.cell.Negative = -1, false
		if wordValue(l.Text[l.cell.Start:l.cell.End]).Kind == Unknown {
			l.Rows[len(l.Rows)-1].simple = false
		}
	}
	l.Cells = append(l.Cells, l.cell)
}

func (l *Lexed) close() {
	l.list = noList
	l.depth--
	if l.depth < l.byDepth {
		l.by = noBy
	}
	if l.insert == inRow && l.depth == 0 {
		l.closeRow()
		return
	}
	l.touch()
	l.pos++
}

// closeRow drops the row from the key when nothing but a comma stands between
// it and the one before, and it has that one's shape: then a plan can't tell
// them apart. Rows of nothing but values have one shape, since what they hold
// is read from the cells.
func (l *Lexed) closeRow() {
	row := &l.Rows[len(l.Rows)-1]
	if int(row.First) < len(l.Cells) || l.cellHas != cellEmpty {
		l.endCell()
	}
	row.Close, row.Count = int32(l.pos), int32(len(l.Cells))-row.First
	l.insert = betweenRows
	l.pos++
	l.flush(l.pos)
	if n := len(l.Rows); n > 1 && l.repeats(&l.Rows[n-2], row) {
		l.Key = l.Key[:l.prevKey[1]]
		l.Slots = l.Slots[:row.slot]
		row.dropped = true
		return
	}
	l.prevKey = [2]int{l.rowKey, len(l.Key)}
}

func (l *Lexed) repeats(before, row *Row) bool {
	if !onlyComma(l.Text[before.Close+1 : row.Open]) {
		return false
	}
	if row.simple && before.simple {
		return row.Count == before.Count
	}
	return bytes.Equal(l.Key[l.rowKey:], l.Key[l.prevKey[0]:l.prevKey[1]])
}

func onlyComma(t []byte) bool {
	commas := 0
	for _, c := range t {
		switch {
		case c == ',':
			commas++
		case class[c] != spaceByte:
			return false
		}
	}
	return commas == 1
}

func (l *Lexed) comma() {
	if l.list == inList {
		l.list = afterComma
	} else {
		l.list = noList
	}
	if l.by != noBy && l.depth == l.byDepth {
		l.by = byItem
	}
	if l.insert == inRow && l.depth == 1 {
		l.endCell()
		l.pos++
		l.beginCell()
		return
	}
	if l.insert == inRow {
		l.cellHas = cellOther
	}
	l.pos++
}

// point reads .5, or the point of a qualified name.
func (l *Lexed) point() {
	t := l.Text
	begins := l.pos == 0 || (!inName(t[l.pos-1]) && t[l.pos-1] != '`' && t[l.pos-1] != '"')
	if begins && l.pos+1 < len(t) && class[t[l.pos+1]] == digitByte {
		end, kind := numberEnd(t, l.pos)
		l.strip(l.pos, end, kind)
		return
	}
	l.touch()
	l.pos++
}

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
