package stmt

import "strings"

// readPrepared reads MariaDB's forms that the parser doesn't support: EXECUTE IMMEDIATE text, and expressions where
// MySQL accepts a text or variables. It returns false for other statements, and for subqueries, which no server accepts
// there.
func readPrepared(l *Lexed) (*Statement, bool) {
	scan := tokens{l: l}
	verb, ok := scan.next()
	if !ok || !l.is(verb, "execute") && !l.is(verb, "prepare") {
		return nil, false
	}
	name, ok := scan.next()
	if !ok || l.clause(0, "with") >= 0 || l.mentions("select") {
		return nil, false
	}
	r := &reader{l: l}
	p := &TextPrepared{}
	p.Name, _ = nameAt(l.Text, name.start)
	using := l.clause(name.end, "using")
	if using >= 0 {
		p.Values = r.listed(using + len("using"))
	} else {
		using = l.end()
	}
	from := l.clause(name.end, "from")
	switch {
	case l.is(verb, "prepare") && from >= 0:
		p.Verb, p.Expression = "prepare", r.expressionWithin(from+len("from"), l.end())
	case l.is(verb, "execute") && l.is(name, "immediate"):
		p.Verb, p.Name, p.Expression = "immediate", "", r.expressionWithin(name.end, using)
	case l.is(verb, "execute") && len(p.Values) > 0:
		p.Verb = "execute"
	}
	if p.Verb == "" || p.Verb != "execute" && strings.TrimSpace(p.Expression) == "" {
		return nil, false
	}
	return &Statement{Kind: TextPrepare, Prepared: p, Verbatim: true}, true
}

func (l *Lexed) mentions(word string) (found bool) {
	l.Words(func(w []byte) { found = found || strings.EqualFold(string(w), word) })
	return found
}

// listed returns the texts of a list's items.
func (r *reader) listed(start int) (list []string) {
	for start < r.l.end() {
		end := r.itemEnd(start)
		list = append(list, r.expressionWithin(start, end))
		start = end + 1
	}
	return list
}

// itemEnd returns the offset of the comma that ends a list's item.
func (r *reader) itemEnd(start int) int {
	depth := 0
	for i := start; i < r.l.end(); i++ {
		if literal, ok := r.l.literalAt(i); ok {
			i = int(literal.End) - 1
			continue
		}
		switch c := r.l.Text[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			return i
		}
	}
	return r.l.end()
}
