package stmt

import "bytes"

// token is a word or a parenthesis of a text, outside of literals, comments and
// quoted names.
type token struct {
	start, end int
	depth      int // parentheses around it
}

// tokens walks the words and parentheses of a text that was lexed. It runs once
// per key.
type tokens struct {
	l       *Lexed
	pos     int
	literal int
	depth   int
}

// next gives the next word or parenthesis; a closing one has the depth of its
// opening one.
func (t *tokens) next() (token, bool) {
	text := t.l.Text
	for t.pos < len(text) {
		if t.skipLiteral() {
			continue
		}
		c := text[t.pos]
		switch {
		case class[c] == quoteByte: // a quoted name: literals were skipped
			end := quotedEnd(text, t.pos, false)
			if end < 0 {
				return token{}, false
			}
			t.pos = end
		case inName(c):
			tok := token{t.pos, wordEnd(text, t.pos), t.depth}
			t.pos = tok.end
			return tok, true
		case c == '(':
			t.pos++
			t.depth++
			return token{t.pos - 1, t.pos, t.depth - 1}, true
		case c == ')':
			t.pos++
			t.depth--
			return token{t.pos - 1, t.pos, t.depth}, true
		default:
			t.pos++
		}
	}
	return token{}, false
}

func (t *tokens) skipLiteral() bool {
	for t.literal < len(t.l.Literals) {
		literal := t.l.Literals[t.literal]
		if int(literal.Start) > t.pos {
			return false
		}
		t.literal++
		if int(literal.End) > t.pos {
			t.pos = int(literal.End)
			return true
		}
	}
	return false
}

func (l *Lexed) is(t token, word string) bool { return isWord(l.Text[t.start:t.end], word) }

// clause finds the first of words at depth 0 from offset on, or -1.
func (l *Lexed) clause(from int, words ...string) int {
	scan := tokens{l: l}
	for {
		t, ok := scan.next()
		if !ok {
			return -1
		}
		if t.start < from || t.depth != 0 {
			continue
		}
		for _, w := range words {
			if l.is(t, w) {
				return t.start
			}
		}
	}
}

// closing gives the parenthesis that closes the one at open, or -1.
func (l *Lexed) closing(open int) int {
	scan := tokens{l: l}
	depth := -1
	for {
		t, ok := scan.next()
		if !ok {
			return -1
		}
		switch {
		case t.start == open:
			depth = t.depth
		case depth >= 0 && t.depth == depth && l.Text[t.start] == ')':
			return t.start
		}
	}
}

// end gives where the statement ends, before a semicolon and blanks.
func (l *Lexed) end() int {
	end := len(l.Text)
	for end > 0 {
		if n := len(l.Literals); n > 0 && l.Literals[n-1].Kind == CommentLiteral && int(l.Literals[n-1].End) == end {
			break
		}
		c := l.Text[end-1]
		if class[c] != spaceByte && c != ';' {
			break
		}
		end--
	}
	return end
}

// blankBetween tells whether nothing but blanks stands in [start, end).
func (l *Lexed) blankBetween(start, end int32) bool {
	return len(bytes.TrimSpace(l.Text[start:end])) == 0
}

// opening gives the first parenthesis from offset on, or -1.
func (l *Lexed) opening(from int) int {
	scan := tokens{l: l}
	for {
		t, ok := scan.next()
		if !ok {
			return -1
		}
		if t.start >= from && l.Text[t.start] == '(' {
			return t.start
		}
	}
}

// openingBefore gives the last parenthesis opened at depth 0 before offset, or
// -1. A negative offset is the end of the text.
func (l *Lexed) openingBefore(offset int) int {
	scan, found := tokens{l: l}, -1
	for {
		t, ok := scan.next()
		if !ok || (offset >= 0 && t.start >= offset) {
			return found
		}
		if t.depth == 0 && l.Text[t.start] == '(' {
			found = t.start
		}
	}
}

// Words calls f with every word and quoted name (in its quotes) of the text.
func (l *Lexed) Words(f func(word []byte)) {
	scan := tokens{l: l}
	for scan.pos < len(l.Text) {
		if scan.skipLiteral() {
			continue
		}
		c, end := l.Text[scan.pos], scan.pos+1
		switch {
		case class[c] == quoteByte:
			if end = quotedEnd(l.Text, scan.pos, false); end < 0 {
				return
			}
			f(l.Text[scan.pos:end])
		case inName(c):
			end = wordEnd(l.Text, scan.pos)
			f(l.Text[scan.pos:end])
		}
		scan.pos = end
	}
}
