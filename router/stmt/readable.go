package stmt

import "unicode/utf8"

// readable gives the text that the parser reads. It is as long as the one that
// was sent, so that positions are the same, and holds blanks in place of
//
//   - comments, because the parser executes some that no server does (/*T! … */),
//   - hints and the wrappers of executable comments,
//   - the rows and list elements that the key leaves out: they have the shape of
//     those before them, and a parse costs what its text is long.
//
// Bytes of strings that are no UTF-8 (which the parser demands, and servers
// don't) become letters.
func (l *Lexed) readable() string {
	text := append([]byte(nil), l.Text...)
	for _, literal := range l.Literals {
		if literal.Kind == CommentLiteral {
			blank(text, literal.Start, literal.End)
		}
	}
	for _, a := range l.asides {
		blank(text, a.start, a.end)
	}
	for _, s := range l.Slots {
		if s.Count > 1 {
			blank(text, l.Literals[s.First].End, l.Literals[s.First+s.Count-1].End)
		}
	}
	for i, row := range l.Rows {
		if row.same {
			blank(text, l.Rows[i-1].Close+1, row.Close+1)
		}
	}
	if !utf8.Valid(text) {
		l.spell(text)
	}
	return string(text)
}

// blank keeps the ends of lines, which the parser's messages count.
func blank(text []byte, start, end int32) {
	for i := start; i < end; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
}

// spell makes strings that are no UTF-8 readable.
func (l *Lexed) spell(text []byte) {
	for _, literal := range l.Literals {
		body := text[literal.Start:literal.End]
		if literal.Kind != StringLiteral || utf8.Valid(body) {
			continue
		}
		for i, c := range body {
			if c >= utf8.RuneSelf {
				body[i] = 'x'
			}
		}
	}
}
