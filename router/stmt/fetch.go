package stmt

import (
	"math"
	"slices"
)

// fetchClause is OFFSET n ROWS, FETCH FIRST n ROWS ONLY, or both. MariaDB supports it in place of LIMIT. The parser supports only a
// FETCH without OFFSET and without WITH TIES.
type fetchClause struct {
	span
	depth int
	// skip is OFFSET n ROWS, and take is FETCH … ONLY or WITH TIES. Their literals are -1 where there are none.
	skip, take       span
	offset, count    int
	first            int // the end of FIRST or NEXT
	hasSkip, hasTake bool
	ties             int // the position of WITH TIES, or -1
}

// fetches returns the clauses of a text in their order.
func (l *Lexed) fetches() []fetchClause {
	a := l.laid()
	if !a.fetchesSought {
		a.fetchesSought = true
		if slices.ContainsFunc(l.words(), func(t token) bool { return !t.qualified && (l.is(t, "fetch") || l.is(t, "offset")) }) {
			l.look(len(l.Text))
			a.fetches = l.findFetches()
		}
	}
	return a.fetches
}

func (l *Lexed) findFetches() (list []fetchClause) {
	r := lexemeReader{l: l, list: l.lexemes(math.MaxInt)}
	depth, before := 0, lexeme{}
	for len(r.list) > 0 {
		if before.char != '.' && r.at("offset", "fetch") {
			if f, ok := r.fetch(); ok {
				f.depth = depth
				list, before = append(list, f), lexeme{}
				continue
			}
		}
		before = r.next()
		switch before.char {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	return list
}

// fetch reads a clause, or nothing.
func (r *lexemeReader) fetch() (f fetchClause, ok bool) {
	before := r.list
	f = fetchClause{offset: -1, count: -1, ties: -1}
	f.start = r.peek().start
	if f.hasSkip = r.takes("offset"); f.hasSkip {
		f.offset = r.number()
		end, rows := r.rows()
		if f.offset < 0 || !rows || r.at("examined") {
			r.list = before
			return f, false
		}
		f.skip, f.end = span{f.start, end}, end
	}
	if !r.at("fetch") {
		return f, f.hasSkip
	}
	at := r.next().start
	if f.first = r.peek().end; !r.takes("first") && !r.takes("next") {
		r.list = before
		return f, false
	}
	f.count = r.number()
	if _, rows := r.rows(); !rows {
		r.list = before
		return f, false
	}
	last := r.list
	switch {
	case r.takes("only"):
		f.end = last[0].end
	case r.takes("with", "ties"):
		f.ties, f.end = last[0].start, last[1].end
	default:
		r.list = before
		return f, false
	}
	f.take, f.hasTake = span{at, f.end}, true
	return f, true
}

// number skips a whole number or a placeholder, and returns its position, or -1.
func (r *lexemeReader) number() int {
	x := r.peek()
	if literal, ok := r.l.literalAt(x.start); x.kind == literalLexeme && ok && (literal.Kind == IntLiteral || literal.Kind == ParamLiteral) {
		return r.next().start
	}
	return -1
}

// rows skips ROW or ROWS, and returns its end.
func (r *lexemeReader) rows() (end int, ok bool) {
	if !r.at("row", "rows") {
		return 0, false
	}
	return r.next().end, true
}

// fetchFrom returns the first clause outside of parentheses from an offset on.
func (l *Lexed) fetchFrom(from int) (f fetchClause, ok bool) {
	for _, f := range l.fetches() {
		if f.depth == 0 && f.start >= from {
			return f, true
		}
	}
	return fetchClause{}, false
}

// readFetches rewrites the clauses in a text of the same length so that the parser reads a LIMIT.
func (l *Lexed) readFetches(text []byte) {
	for _, f := range l.fetches() {
		switch {
		case f.hasSkip && f.hasTake:
			blank(text, int32(f.skip.start), int32(f.skip.end))
		case f.hasSkip: // a LIMIT of any number
			copy(text[f.skip.start:], "LIMIT ")
			blank(text, int32(f.skip.start+len("OFFSET")), int32(f.offset))
			blank(text, int32(l.literalEnd(f.offset)), int32(f.skip.end))
		}
		if f.ties >= 0 {
			blank(text, int32(f.ties), int32(f.take.end))
			copy(text[f.ties:], "ONLY")
		}
	}
}

// literalEnd returns the end of the literal that begins at an offset.
func (l *Lexed) literalEnd(at int) int {
	literal, _ := l.literalAt(at)
	return int(literal.End)
}

// fetched returns the LIMIT that a clause outside of parentheses means.
func (r *reader) fetched() *Limit {
	f, ok := r.l.fetchFrom(0)
	if !ok {
		return &Limit{Unplaced: true}
	}
	out := &Limit{Count: Operand{Slot: -1, Const: UintValue(math.MaxUint64)}, Start: r.l.Anchor(f.start), End: r.l.Anchor(f.end), Ties: f.ties >= 0}
	if f.hasTake {
		out.Count.Const = IntValue(1) // FETCH FIRST ROW
		at := r.l.Anchor(f.first)
		out.CountAt = &at
	}
	for literal, operand := range map[int]*Operand{f.count: &out.Count, f.offset: {}} {
		if literal < 0 {
			continue
		}
		slot, there := r.l.SlotAt(literal)
		if !there {
			return &Limit{Unplaced: true}
		}
		*operand = Operand{Slot: slot}
		if literal == f.offset {
			out.Offset = operand
		}
	}
	return out
}
