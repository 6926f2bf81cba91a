package stmt

import (
	"slices"
	"sort"
)

// token is a word or parenthesis outside of literals, comments and quoted names.
type token struct {
	start, end int
	depth      int // number of enclosing parentheses
	// qualified reports whether a point precedes it, which makes any keyword a name.
	qualified bool
}

// tokens reads the words and parentheses of a lexed text. It runs once per key.
type tokens struct {
	l       *Lexed
	pos     int
	literal int
	aside   int
	depth   int
	point   bool // the last character except blanks was a point
}

// next returns the next word or parenthesis. A closing one has the depth of its opening one.
func (t *tokens) next() (token, bool) {
	text := t.l.Text
	for t.pos < len(text) {
		if t.skipLiteral() || t.skipAside() {
			t.point = false
			continue
		}
		c := text[t.pos]
		switch {
		case class[c] == quoteByte: // a quoted name, since literals were skipped
			end := quotedEnd(text, t.pos, false)
			if end < 0 {
				return token{}, false
			}
			t.pos, t.point = end, false
		case startsWord(c):
			tok := token{t.pos, wordEnd(text, t.pos), t.depth, t.point}
			t.pos, t.point = tok.end, false
			return tok, true
		case c == '(' || c == ')':
			return t.parenthesis(c), true
		default:
			t.point = c == '.' || t.point && class[c] == spaceByte
			t.pos++
		}
	}
	return token{}, false
}

func (t *tokens) parenthesis(c byte) token {
	if c == ')' {
		t.depth--
	}
	tok := token{start: t.pos, end: t.pos + 1, depth: t.depth}
	if c == '(' {
		t.depth++
	}
	t.pos, t.point = tok.end, false
	return tok
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

// skipAside skips hints.
func (t *tokens) skipAside() bool {
	for ; t.aside < len(t.l.asides); t.aside++ {
		switch a := t.l.asides[t.aside]; {
		case int(a.start) > t.pos:
			return false
		case int(a.end) > t.pos:
			t.pos = int(a.end)
			return true
		}
	}
	return false
}

func (l *Lexed) is(t token, word string) bool { return isWord(l.Text[t.start:t.end], word) }

// clause returns the first of words at depth 0 from offset from on, or -1.
func (l *Lexed) clause(from int, words ...string) int {
	for i, t := range l.wordsFrom(from) {
		if t.depth != 0 || t.qualified {
			continue
		}
		for _, w := range words {
			if l.is(t, w) {
				l.look(i)
				return t.start
			}
		}
	}
	l.look(len(l.words()))
	return -1
}

// behind returns the end of the word first, with which the text must begin, and of the modifiers that follow it. It returns -1
// if the text begins with another word.
func (l *Lexed) behind(first string, modifiers ...string) int {
	list := l.words()
	l.look(len(list))
	if len(list) == 0 || list[0].depth != 0 || !l.is(list[0], first) {
		return -1
	}
	end := list[0].end
	for _, t := range list[1:] {
		if t.depth != 0 || t.qualified || !slices.ContainsFunc(modifiers, func(w string) bool { return l.is(t, w) }) {
			break
		}
		end = t.end
	}
	return end
}

// phrase returns the position of consecutive words at depth 0, or -1.
func (l *Lexed) phrase(words ...string) int {
	start, found := -1, 0
	l.look(len(l.words()))
	for _, t := range l.words() {
		switch {
		case t.depth == 0 && !t.qualified && l.is(t, words[found]):
			found++
		case t.depth == 0 && !t.qualified && l.is(t, words[0]):
			found = 1
		default:
			found = 0
		}
		if found == 1 {
			start = t.start
		}
		if found == len(words) {
			return start
		}
	}
	return -1
}

// closing returns the parenthesis that closes the one at open, or -1.
func (l *Lexed) closing(open int) int {
	number, ok := l.openingAt(open)
	if a := l.laid(); ok && int(a.opens[number]) == open {
		return int(a.closes[number])
	}
	return -1
}

// end returns the end of the statement, before blanks, comments, a semicolon and RETURNING.
func (l *Lexed) end() int {
	if a := l.laid(); a.cut != l.cut {
		a.ends, a.cut = l.findEnd(), l.cut
	}
	return l.layout.ends
}

func (l *Lexed) findEnd() int {
	end, last := len(l.Text), len(l.Literals)-1
	if l.cut > 0 {
		for end = l.cut; last >= 0 && int(l.Literals[last].Start) >= end; last-- {
		}
	}
	for end > 0 {
		if last >= 0 && int(l.Literals[last].End) == end {
			if l.Literals[last].Kind != CommentLiteral {
				break
			}
			end = int(l.Literals[last].Start)
			last--
			continue
		}
		if c := l.Text[end-1]; class[c] != spaceByte && c != ';' {
			break
		}
		end--
	}
	return end
}

// opening returns the first opening parenthesis from offset from on, or -1.
func (l *Lexed) opening(from int) int {
	number, ok := l.openingAt(from)
	if !ok {
		return -1
	}
	return int(l.laid().opens[number])
}

// Words calls f with every word and quoted name (in its quotes) of the text.
func (l *Lexed) Words(f func(word []byte)) {
	l.Calls(func(word []byte, _ bool) { f(word) })
}

// Calls is Words and also reports whether a parenthesis follows, as after a function's name.
func (l *Lexed) Calls(f func(word []byte, called bool)) {
	scan := tokens{l: l}
	for scan.pos < len(l.Text) {
		if scan.skipLiteral() || scan.skipAside() {
			continue
		}
		c, end := l.Text[scan.pos], scan.pos+1
		switch {
		case class[c] == quoteByte:
			if end = quotedEnd(l.Text, scan.pos, false); end < 0 {
				return
			}
			f(l.Text[scan.pos:end], l.called(end))
		case startsWord(c):
			end = wordEnd(l.Text, scan.pos)
			f(l.Text[scan.pos:end], l.called(end))
		}
		scan.pos = end
	}
}

// called reports whether a parenthesis follows, after blanks and comments.
func (l *Lexed) called(at int) bool {
	for at = skipBlanks(l.Text, at); at < len(l.Text); at = skipBlanks(l.Text, at) {
		i := sort.Search(len(l.Literals), func(i int) bool { return int(l.Literals[i].Start) >= at })
		if i == len(l.Literals) || int(l.Literals[i].Start) != at || l.Literals[i].Kind != CommentLiteral {
			return l.Text[at] == '('
		}
		at = int(l.Literals[i].End)
	}
	return false
}
