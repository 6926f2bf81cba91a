package stmt

import "sort"

// Assigned finds the value of the nth assignment (from 0) in a list that begins at start. The value must be a literal
// or a word, perhaps with a sign or in parentheses. Texts of one key differ in their literals, so a position found in
// one isn't valid in another.
func (l *Lexed) Assigned(start, nth int) (from, to int, ok bool) {
	walk := walker{l: l, pos: start}
	for depth := 0; ; {
		c, there := walk.next()
		switch {
		case !there:
			return 0, 0, false
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			nth--
		case c == '=' && nth == 0:
			return walk.value()
		}
	}
}

// walker reads a text byte by byte and skips literals, comments and quoted names.
type walker struct {
	l   *Lexed
	pos int
}

// next returns the next byte outside of those.
func (w *walker) next() (c byte, ok bool) {
	for w.pos < len(w.l.Text) {
		c = w.l.Text[w.pos]
		if literal, begins := w.literal(); begins {
			w.pos = int(literal.End)
			continue
		}
		w.pos++
		if c != '`' && c != '"' {
			return c, true
		}
		for w.pos < len(w.l.Text) && w.l.Text[w.pos] != c { // a doubled quote counts as two names here
			w.pos++
		}
		w.pos++
	}
	return 0, false
}

func (w *walker) literal() (Literal, bool) {
	i := sort.Search(len(w.l.Literals), func(i int) bool { return int(w.l.Literals[i].Start) >= w.pos })
	if i == len(w.l.Literals) || int(w.l.Literals[i].Start) != w.pos {
		return Literal{}, false
	}
	return w.l.Literals[i], true
}

// value returns the position of the value that begins here.
func (w *walker) value() (from, to int, ok bool) {
	w.blanks()
	from = w.pos
	open := w.signs()
	if literal, begins := w.literal(); begins {
		w.pos = int(literal.End)
	} else {
		word := w.pos
		for w.pos < len(w.l.Text) && isLetter(w.l.Text[w.pos]) {
			w.pos++
		}
		if word == w.pos {
			return 0, 0, false
		}
	}
	to = w.pos
	for ; open > 0; open-- {
		w.blanks()
		if w.pos == len(w.l.Text) || w.l.Text[w.pos] != ')' {
			return 0, 0, false
		}
		w.pos++
		to = w.pos
	}
	return from, to, true
}

// signs skips signs and parentheses before a value, and counts open parentheses.
func (w *walker) signs() (open int) {
	for w.blanks(); w.pos < len(w.l.Text); w.blanks() {
		switch w.l.Text[w.pos] {
		case '(':
			open++
		case '+', '-':
		default:
			return open
		}
		w.pos++
	}
	return open
}

// blanks skips blanks and comments.
func (w *walker) blanks() {
	for w.pos < len(w.l.Text) {
		if literal, begins := w.literal(); begins {
			if literal.Kind != CommentLiteral {
				return
			}
			w.pos = int(literal.End)
			continue
		}
		switch w.l.Text[w.pos] {
		case ' ', '\t', '\r', '\n', '\f', '\v':
			w.pos++
		default:
			return
		}
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
