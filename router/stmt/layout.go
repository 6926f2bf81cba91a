package stmt

import (
	"slices"
	"sort"
)

// layout caches results that several readers of a text need. Each is computed once per text, so that reading is
// linear in the length of the text. It is dropped once the text is planned.
type layout struct {
	tokens []token
	pieces []piece
	// opens are the offsets of the opening parentheses. closes are the offsets of the matching closing ones, or -1.
	opens, closes []int32
	readable      string
	ends          int  // result of end,
	cut           int  // for this cut
	quoted        bool // a variable's name is a string;
	quotedSought  bool // quoted has been computed
	fetches       []fetchClause
	opaque        map[string]bool // see rowSources
	lateral       map[string]bool
	fetchesSought bool // fetches has been computed
	looked        int  // number of bytes and tokens examined
}

// laid returns the layout and creates it at the first call.
func (l *Lexed) laid() *layout {
	if l.layout == nil {
		l.layout = &layout{cut: -1}
	}
	return l.layout
}

// Planned drops the data that was kept for planning the text.
func (l *Lexed) Planned() { l.layout = nil }

// look counts work proportional to n.
func (l *Lexed) look(n int) { l.laid().looked += n }

// Looked returns the number of bytes and tokens examined to plan the text, without the parser's own work. Tests check
// that it is linear.
func (l *Lexed) Looked() int { return l.laid().looked }

// words returns all tokens of the text.
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

// wordsFrom returns the tokens from an offset on.
func (l *Lexed) wordsFrom(offset int) []token {
	list := l.words()
	return list[sort.Search(len(list), func(i int) bool { return list[i].start >= offset }):]
}

// openingAt returns the number of the first opening parenthesis from an offset on.
func (l *Lexed) openingAt(offset int) (number int, ok bool) {
	l.words()
	opens := l.laid().opens
	number = sort.Search(len(opens), func(i int) bool { return int(opens[i]) >= offset })
	return number, number < len(opens)
}

// literalFrom returns the index of the first literal that begins at or behind an offset.
func (l *Lexed) literalFrom(offset int) int {
	return sort.Search(len(l.Literals), func(i int) bool { return int(l.Literals[i].Start) >= offset })
}

// literalAt returns the literal that begins at an offset.
func (l *Lexed) literalAt(offset int) (Literal, bool) {
	i := l.literalFrom(offset)
	if i == len(l.Literals) || int(l.Literals[i].Start) != offset {
		return Literal{}, false
	}
	return l.Literals[i], true
}

// asideAt returns the end of the wrapper or hint that begins at an offset.
func (l *Lexed) asideAt(offset int) (end int, ok bool) {
	i, found := slices.BinarySearchFunc(l.asides, offset, func(a aside, offset int) int { return int(a.start) - offset })
	if !found {
		return 0, false
	}
	return int(l.asides[i].end), true
}

// piecesFrom returns the pieces from an offset on.
func (l *Lexed) piecesFrom(offset int) []piece {
	list := l.pieces()
	return list[sort.Search(len(list), func(i int) bool { return list[i].start >= offset }):]
}
