package stmt

import "math"

// AssignsVariables reports whether a stored body may assign a user variable itself: in SET, by :=, in INTO, or in GET DIAGNOSTICS. It is true if the body can't be
// split into tokens in its mode.
func AssignsVariables(body string, mode Mode) bool {
	l := new(Lexed)
	l.Lex([]byte(body), mode)
	if l.Err != nil {
		return true
	}
	list := l.lexemes(math.MaxInt)
	text := func(i int) string {
		if i < 0 || i >= len(list) {
			return ""
		}
		return lower(string(l.Text[list[i].start:list[i].end]))
	}
	into, diagnostics := false, false // in the current statement
	for i, x := range list {
		word := text(i)
		switch {
		case x.kind == punctuation && x.char == ';':
			into, diagnostics = false, false
		case x.kind == bareWord && word[0] != '@':
			into, diagnostics = into || word == "into", diagnostics || word == "diagnostics"
		case x.kind != bareWord || len(word) > 1 && word[1] == '@': // a system variable
		default:
			after := i + 1
			if word == "@" { // a quoted name follows
				after++
			}
			before := text(i - 1)
			if into || text(after) == ":" || text(after) == "=" && (diagnostics || before == "set" || before == ",") {
				return true
			}
		}
	}
	return false
}
