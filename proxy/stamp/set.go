package stamp

import (
	"locus/router/plan"
	"locus/router/stmt"
)

// writeSet writes an INSERT … SET, which is one row.
func (s *Stamper) writeSet() error {
	s.begin(s.rows[0].shard, 1)
	list := s.v.Offset(s.in.List)
	s.out.upTo(list)
	for _, stamp := range s.in.Added {
		s.out.put(" ")
		s.out.text = appendName(s.out.text, s.column(stamp).Name)
		s.out.put(" = ")
		s.writeValue(0, stamp)
		s.out.put(",")
	}
	for _, e := range s.edits {
		if !s.rows[0].asked.has(e.stamp) {
			continue
		}
		from, to, ok := assigned(s.v.Lexed, list, e.at)
		if !ok {
			return refuse(plan.Unreadable, "the value of %s could not be found in the text: leave the column out and it is generated", s.column(e.stamp).Name)
		}
		s.out.upTo(from)
		s.writeValue(0, e.stamp)
		s.out.passOver(to)
	}
	s.end()
	return nil
}

// assigned finds the value of the nth assignment (from 0) of a list that begins
// at start, where that value is a literal or a word, perhaps with a sign and in
// parentheses. Texts of one key differ in their literals, so a place that was
// found in one is not that of another.
func assigned(l *stmt.Lexed, start, nth int) (from, to int, ok bool) {
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

// walker goes through a text byte by byte, stepping over literals, comments and
// quoted names.
type walker struct {
	l   *stmt.Lexed
	pos int
}

// next gives the next byte that is none of those.
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
		for w.pos < len(w.l.Text) && w.l.Text[w.pos] != c { // a doubled quote is two names to us
			w.pos++
		}
		w.pos++
	}
	return 0, false
}

func (w *walker) literal() (stmt.Literal, bool) {
	for _, literal := range w.l.Literals {
		if int(literal.Start) == w.pos {
			return literal, true
		}
	}
	return stmt.Literal{}, false
}

// value gives where the value that begins here stands.
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

// signs steps over what may stand before a value and counts its parentheses.
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

// blanks steps over blanks and comments.
func (w *walker) blanks() {
	for w.pos < len(w.l.Text) {
		if literal, begins := w.literal(); begins {
			if literal.Kind != stmt.CommentLiteral {
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
