package stmt

import "strings"

// lexeme is a piece of a text that isn't a blank, comment or hint.
type lexeme struct {
	span
	kind lexemeKind
	// char is the character if the lexeme is punctuation.
	char byte
}

type lexemeKind uint8

const (
	noLexeme lexemeKind = iota
	bareWord
	quotedWord
	literalLexeme
	punctuation
)

// lexemes returns the first lexemes of a text, without semicolons at its end. It runs once per key.
func (l *Lexed) lexemes(most int) []lexeme {
	var out []lexeme
	scan := tokens{l: l}
	end := l.end()
	for scan.pos < end && len(out) < most {
		if scan.skipLiteral() {
			if literal := l.Literals[scan.literal-1]; literal.Kind != CommentLiteral {
				out = append(out, lexeme{span{int(literal.Start), int(literal.End)}, literalLexeme, 0})
			}
			continue
		}
		if scan.skipAside() {
			continue
		}
		c, at := l.Text[scan.pos], scan.pos
		switch {
		case class[c] == spaceByte:
			scan.pos++
		case class[c] == quoteByte:
			if scan.pos = quotedEnd(l.Text, at, false); scan.pos < 0 {
				return out
			}
			out = append(out, lexeme{span{at, scan.pos}, quotedWord, 0})
		case startsWord(c):
			scan.pos = wordEnd(l.Text, at)
			out = append(out, lexeme{span{at, scan.pos}, bareWord, 0})
		default:
			scan.pos++
			out = append(out, lexeme{span{at, scan.pos}, punctuation, c})
		}
	}
	return out
}

// lexemeReader reads a list of lexemes from its start.
type lexemeReader struct {
	l    *Lexed
	list []lexeme
}

func (r *lexemeReader) peek() lexeme {
	if len(r.list) == 0 {
		return lexeme{}
	}
	return r.list[0]
}

func (r *lexemeReader) next() lexeme {
	x := r.peek()
	if len(r.list) > 0 {
		r.list = r.list[1:]
	}
	return x
}

// at reports whether one of the words comes next.
func (r *lexemeReader) at(words ...string) bool {
	x := r.peek()
	if x.kind != bareWord {
		return false
	}
	for _, w := range words {
		if isWord(r.l.Text[x.start:x.end], w) {
			return true
		}
	}
	return false
}

// takes skips the words if they come next in this order.
func (r *lexemeReader) takes(words ...string) bool {
	before := r.list
	for _, w := range words {
		if !r.at(w) {
			r.list = before
			return false
		}
		r.next()
	}
	return true
}

func (r *lexemeReader) takesChar(c byte) bool {
	if x := r.peek(); x.kind == punctuation && x.char == c {
		r.next()
		return true
	}
	return false
}

// name reads a name without quotes. ok is false if none comes next.
func (r *lexemeReader) name() (name string, ok bool) {
	x := r.peek()
	switch x.kind {
	case bareWord:
		name = string(r.l.Text[x.start:x.end])
	case quotedWord:
		quote := string(r.l.Text[x.start])
		name = strings.ReplaceAll(string(r.l.Text[x.start+1:x.end-1]), quote+quote, quote)
	case noLexeme, literalLexeme, punctuation:
		return "", false
	}
	r.next()
	return name, true
}

// table reads a table's name, perhaps with a schema.
func (r *lexemeReader) table() (t TableName, ok bool) {
	if t.Name, ok = r.name(); !ok || !r.takesChar('.') {
		return t, ok
	}
	t.Schema = t.Name
	t.Name, ok = r.name()
	return t, ok
}

// text reads a string, X'…' or 0x…. ok is false if none comes next.
func (r *lexemeReader) text() (value string, ok bool) {
	x := r.peek()
	if x.kind != literalLexeme {
		return "", false
	}
	args := Args{Lexed: &Lexed{Mode: r.l.Mode}}
	switch quoted := r.l.Text[x.start:x.end]; quoted[0] {
	case '\'', '"':
		value, ok = string(args.unquote(quoted)), true
	case 'x', 'X', '0':
		if len(quoted) > 1 && quoted[1] != 'b' {
			v := args.unhex(quoted)
			value, ok = string(v.Text), v.Kind == Bytes
		}
	}
	if ok {
		r.next()
	}
	return value, ok
}
