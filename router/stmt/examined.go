package stmt

import (
	"math"
	"slices"
)

// examined returns the places of MariaDB's ROWS EXAMINED n, including a LIMIT that has no other numbers. It bounds the rows that a
// server reads for a query. The parser doesn't support it.
func (l *Lexed) examined() (list []span) {
	if !slices.ContainsFunc(l.words(), func(t token) bool { return !t.qualified && l.is(t, "examined") }) {
		return nil
	}
	l.look(len(l.Text))
	r := lexemeReader{l: l, list: l.lexemes(math.MaxInt)}
	for limit := -1; len(r.list) > 0; {
		start := r.peek().start
		switch {
		case r.takes("rows", "examined"):
			if limit >= 0 {
				start = limit
			}
			if at := r.number(); at >= 0 {
				list = append(list, span{start, l.literalEnd(at)})
			}
			limit = -1
		case r.takes("limit"):
			limit = start
		default:
			r.next()
			limit = -1
		}
	}
	return list
}

// describedWild returns the place of the pattern in DESCRIBE t 'pattern', which the parser doesn't support.
func (l *Lexed) describedWild() (at span, ok bool) {
	r := lexemeReader{l: l, list: l.lexemes(explainedWords)}
	if !r.takes("describe") && !r.takes("desc") && !r.takes("explain") {
		return span{}, false
	}
	if _, ok := r.table(); !ok {
		return span{}, false
	}
	x := r.next()
	literal, is := l.literalAt(x.start)
	return x.span, is && x.kind == literalLexeme && literal.Kind == StringLiteral && len(r.list) == 0
}
