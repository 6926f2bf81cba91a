package stmt

// AlteredView reads ALTER VIEW, which the parser doesn't support. It returns the view, and the text of the equivalent CREATE OR
// REPLACE VIEW for an existing view. It returns false for other statements.
func (l *Lexed) AlteredView() (view TableName, replacing string, ok bool) {
	r := lexemeReader{l, l.lexemes(maxHead + explainedWords)}
	verb := r.peek()
	if !r.takes("alter") {
		return view, "", false
	}
	for !r.takes("view") {
		if x := r.next(); x.kind == noLexeme || x.kind == bareWord && objects[lower(string(l.Text[x.start:x.end]))] {
			return view, "", false
		}
	}
	if view, ok = r.table(); !ok {
		return view, "", false
	}
	return view, string(l.Text[:verb.start]) + "CREATE OR REPLACE" + string(l.Text[verb.end:]), true
}

// objects are the other objects of ALTER.
var objects = set("table database schema procedure function event package sequence user server tablespace instance trigger")
