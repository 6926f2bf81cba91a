package stmt

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// readable returns the text for the parser. It has the length of the original text, so that positions are the same. It
// has blanks in place of
//
//   - comments, because the parser executes some that no server does (/*T! … */),
//   - hints,
//   - the WORK of COMMIT WORK, and the LOCAL of SHOW LOCAL STATUS,
//   - IGNORE n LINES of LOAD DATA,
//   - AS new (a, b) behind the rows of an INSERT,
//   - OFFSET n ROWS before FETCH, which is a LIMIT without FETCH, and WITH TIES, which is ONLY,
//   - ROWS EXAMINED n of LIMIT, and the pattern of DESCRIBE t 'pattern',
//   - INTO @a, @b of a SELECT, and LIMIT of SHOW WARNINGS, which the parser doesn't support,
//   - rows and list elements that the key omits, because the cost of a parse grows with the text.
//
// Bytes of strings that aren't UTF-8 (which the parser requires, but servers don't) are replaced by letters. Numbers
// that the parser can't handle are replaced by short ones.
func (l *Lexed) readable() string {
	if a := l.laid(); a.readable == "" {
		l.look(len(l.Text))
		a.readable = l.makeReadable()
	}
	return l.layout.readable
}

func (l *Lexed) makeReadable() string {
	text := append([]byte(nil), l.Text...)
	for _, literal := range l.Literals {
		switch {
		case literal.Kind == CommentLiteral:
			blank(text, literal.Start, literal.End)
		case literal.overlong():
			respell(text[literal.Start:literal.End], literal.Kind)
		case literal.Kind == DecimalLiteral && text[literal.End-1] == '.':
			text[literal.End-1] = ' ' // the parser refuses 5.
		}
	}
	l.introduce(text)
	for _, a := range l.asides {
		blank(text, a.start, a.end)
	}
	for _, s := range l.Slots {
		if s.Count > 1 {
			blank(text, l.Literals[s.First].End, l.Literals[s.First+s.Count-1].End)
		}
	}
	for i, row := range l.Rows {
		if row.dropped {
			blank(text, l.Rows[i-1].Close+1, row.Close+1)
		}
	}
	if start, end := l.silent(); start >= 0 {
		blank(text, start, end)
	}
	if start, end := l.skippedLines(); start >= 0 {
		blank(text, start, end)
	}
	if limit := l.shownLimit(); limit >= 0 {
		blank(text, limit, int32(l.end()))
	}
	l.readFetches(text)
	for _, at := range l.examined() {
		blank(text, int32(at.start), int32(at.end))
	}
	if at, ok := l.describedWild(); ok {
		blank(text, int32(at.start), int32(at.end))
	}
	if alias, ok := l.rowAlias(); ok {
		blank(text, int32(alias.start), int32(alias.end))
	}
	if into := l.intoVariables(); into.names != nil {
		blank(text, into.start, into.end)
	}
	if !utf8.Valid(text) {
		l.spell(text)
	}
	return string(text)
}

// introduce replaces introducers that the parser doesn't support (_koi8r'…') by one that it does. The original text is
// sent on.
func (l *Lexed) introduce(text []byte) {
	for _, literal := range l.Literals {
		if literal.Kind == CommentLiteral {
			continue
		}
		end := int(literal.Start)
		for end > 0 && class[text[end-1]] == spaceByte {
			end--
		}
		start := end
		for start > 0 && class[text[start-1]] != spaceByte && inName(text[start-1]) {
			start--
		}
		if start == end || text[start] != '_' || !slices.Contains(charsets, strings.ToLower(string(text[start+1:end]))) {
			continue
		}
		if name := asLong(end - start - 1); name != "" {
			copy(text[start+1:end], name+strings.Repeat(" ", end-start-1-len(name)))
		}
	}
}

// asLong returns the longest introducer of at most n letters, if there is one.
func asLong(n int) string {
	switch {
	case n >= len("latin1"):
		return "latin1"
	case n == len("ascii"):
		return "ascii"
	case n == len("utf8"):
		return "utf8"
	}
	return ""
}

// silent finds the word WORK behind BEGIN, COMMIT or ROLLBACK, or LOCAL behind SHOW. It has no meaning, and the parser
// doesn't support it. start is -1 if there is none.
func (l *Lexed) silent() (start, end int32) {
	scan := tokens{l: l}
	verb, ok := scan.next()
	if !ok {
		return -1, -1
	}
	said := "work"
	switch {
	case l.is(verb, "begin"), l.is(verb, "commit"), l.is(verb, "rollback"):
	case l.is(verb, "show"):
		said = "local"
	default:
		return -1, -1
	}
	if word, ok := scan.next(); ok && l.is(word, said) {
		return int32(word.start), int32(word.start + len(said))
	}
	return -1, -1
}

// blank overwrites a part of the text with blanks. It keeps line ends, because the parser's messages count lines. It also
// keeps words directly after two minus signs, which occur in no valid statement: blanks would turn the text after them into a
// comment.
func blank(text []byte, start, end int32) {
	if behindMinuses(text, int(start)) {
		return
	}
	for i := start; i < end; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
}

// spell replaces the bytes of strings that aren't valid UTF-8, so that the parser accepts them.
func (l *Lexed) spell(text []byte) {
	for _, literal := range l.Literals {
		body := text[literal.Start:literal.End]
		if !literal.isString() || utf8.Valid(body) {
			continue
		}
		for i, c := range body {
			if c >= utf8.RuneSelf {
				body[i] = 'x'
			}
		}
	}
}

// overlong reports whether a number has more digits than any column holds. The parser panics on some of them.
func (l Literal) overlong() bool {
	switch l.Kind {
	case IntLiteral, DecimalLiteral, FloatLiteral:
		return l.End-l.Start > 65
	case StringLiteral, IntroducedLiteral, HexLiteral, BitLiteral, ParamLiteral, CommentLiteral:
	}
	return false
}

func respell(number []byte, kind LiteralKind) {
	short := "1"
	switch kind {
	case DecimalLiteral:
		short = "1.5"
	case FloatLiteral:
		short = "1e5"
	case IntLiteral, StringLiteral, IntroducedLiteral, HexLiteral, BitLiteral, ParamLiteral, CommentLiteral:
	}
	blank(number[copy(number, short):], 0, int32(len(number)-len(short)))
}
