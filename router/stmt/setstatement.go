package stmt

import "math"

// ForStatement reads SET STATEMENT name = value, … FOR, MariaDB's: the names of
// the variables in lower case. ok is false where it is not read whole, which it is
// only with plain constants for values; there says that a text begins so.
func (l *Lexed) ForStatement() (names []string, there, ok bool) {
	r := lexemeReader{l: l, list: l.lexemes(math.MaxInt)}
	if !r.takes("set", "statement") {
		return nil, false, true
	}
	for {
		if r.peek().kind != bareWord {
			return nil, true, false
		}
		name, _ := r.name()
		names = append(names, lower(name))
		if !r.takesChar('=') || !r.constant() {
			return nil, true, false
		}
		switch {
		case r.takesChar(','):
		case r.takes("for"):
			return names, true, true
		default:
			return nil, true, false
		}
	}
}

// constant steps over a literal or a word.
func (r *lexemeReader) constant() bool {
	r.takesChar('-')
	x := r.next()
	return x.kind == literalLexeme || x.kind == bareWord && !isWord(r.l.Text[x.start:x.end], "for")
}

// AnyWords calls f with every word of the text in lower case: those within strings,
// comments and hints too, wherever quotes end.
func (l *Lexed) AnyWords(f func(word string)) {
	for i := 0; i < len(l.Text); {
		if !inName(l.Text[i]) {
			i++
			continue
		}
		end := i
		for end < len(l.Text) && inName(l.Text[end]) {
			end++
		}
		f(lower(string(l.Text[i:end])))
		i = end
	}
}
