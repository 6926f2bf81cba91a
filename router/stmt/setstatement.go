package stmt

import "math"

// ForStatement reads MariaDB's SET STATEMENT name = value, … FOR. It returns the variables' names in lower case. ok is
// false if it can't be read whole, which requires plain constants as values. there reports whether the text begins with
// SET STATEMENT.
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

// constant skips a literal or a word.
func (r *lexemeReader) constant() bool {
	r.takesChar('-')
	x := r.next()
	return x.kind == literalLexeme || x.kind == bareWord && !isWord(r.l.Text[x.start:x.end], "for")
}

// AnyWords calls f with every word of the text in lower case, including those within strings, comments and hints.
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
