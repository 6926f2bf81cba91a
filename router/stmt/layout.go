package stmt

import (
	"slices"
	"sort"
)

// layout is what a text's readers look up again and again: made once for a text,
// so that reading it stays linear however many places are looked for. It is dropped
// when the text is planned.
type layout struct {
	tokens []token
	pieces []piece
	// opens are the opening parentheses among tokens, closes what closes each; -1:
	// nothing does.
	opens, closes []int32
	readable      string
	ends          int  // what end gives, and
	cut           int  // for which cut
	quoted        bool // a variable is named by a string, and
	quotedSought  bool // somebody has looked
	looked        int  // how many bytes and tokens were looked at
}

// laid gives the layout, which is made at the first call.
func (l *Lexed) laid() *layout {
	if l.layout == nil {
		l.layout = &layout{cut: -1}
	}
	return l.layout
}

// Planned drops what was kept for the planning of the text.
func (l *Lexed) Planned() { l.layout = nil }

// look notes work that is proportional to n.
func (l *Lexed) look(n int) { l.laid().looked += n }

// Looked counts the bytes and tokens that were looked at for the planning of the text,
// the parser's own work aside. It is what tests hold to be linear.
func (l *Lexed) Looked() int { return l.laid().looked }

// words are all tokens of the text.
func (l *Lexed) words() []token {
	a := l.laid()
	if a.tokens != nil {
		return a.tokens
	}
	a.tokens = make([]token, 0, 16)
	l.look(len(l.Text))
	var open []int // indexes into opens
	for scan := (tokens{l: l}); ; {
		t, ok := scan.next()
		if !ok {
			return a.tokens
		}
		switch l.Text[t.start] {
		case '(':
			open = append(open, len(a.opens))
			a.opens, a.closes = append(a.opens, int32(t.start)), append(a.closes, -1)
		case ')':
			if n := len(open); n > 0 {
				a.closes[open[n-1]] = int32(t.start)
				open = open[:n-1]
			}
		}
		a.tokens = append(a.tokens, t)
	}
}

// wordsFrom are the tokens from an offset on.
func (l *Lexed) wordsFrom(offset int) []token {
	list := l.words()
	return list[sort.Search(len(list), func(i int) bool { return list[i].start >= offset }):]
}

// openingAt finds the first opening parenthesis from an offset on, by its number.
func (l *Lexed) openingAt(offset int) (number int, ok bool) {
	l.words()
	opens := l.laid().opens
	number = sort.Search(len(opens), func(i int) bool { return int(opens[i]) >= offset })
	return number, number < len(opens)
}

// literalFrom gives the number of the first literal that begins at an offset or
// behind it.
func (l *Lexed) literalFrom(offset int) int {
	return sort.Search(len(l.Literals), func(i int) bool { return int(l.Literals[i].Start) >= offset })
}

// literalAt finds the literal that begins at an offset.
func (l *Lexed) literalAt(offset int) (Literal, bool) {
	i := l.literalFrom(offset)
	if i == len(l.Literals) || int(l.Literals[i].Start) != offset {
		return Literal{}, false
	}
	return l.Literals[i], true
}

// asideAt gives the end of the wrapper or hint that begins at offset.
func (l *Lexed) asideAt(offset int) (end int, ok bool) {
	i, found := slices.BinarySearchFunc(l.asides, offset, func(a aside, offset int) int { return int(a.start) - offset })
	if !found {
		return 0, false
	}
	return int(l.asides[i].end), true
}

// piecesFrom are the pieces from an offset on.
func (l *Lexed) piecesFrom(offset int) []piece {
	list := l.pieces()
	return list[sort.Search(len(list), func(i int) bool { return list[i].start >= offset }):]
}
