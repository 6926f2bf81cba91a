package stmt

import (
	"bytes"
	"slices"
	"strings"
)

// NextValue is a call of a generator: NEXT VALUE FOR name, or NEXTVAL(name).
type NextValue struct {
	Name       string // as written, without quotes
	Start, End int    // of the text
	// Selected reports whether it is part of a SELECT and determines a column's type. Item reports whether it is a
	// whole selected item without a name, so that it determines the column's name.
	Selected, Item bool
}

// NextValues finds the calls of generators with declared names. Other names are the server's sequences. once reports
// that each call is evaluated once, because the statement reads no rows.
func (l *Lexed) NextValues(declared func(name string) bool) (places []NextValue, once bool) {
	if !mentionsNext(l.Text) {
		return nil, false
	}
	list := l.pieces()
	var words []string
	depth, begins := 0, false // an item of a SELECT begins here
	for i := 0; i < len(list); i++ {
		p := list[i]
		if name, next := l.nextValue(list, i); next > i && declared(name) {
			v := NextValue{Name: name, Start: p.start, End: list[next-1].end, Selected: len(words) > 0 && words[0] == "select"}
			v.Item = v.Selected && depth == 0 && begins && l.follows(list, i) && l.ends(list, next)
			places = append(places, v)
			i, begins = next-1, false
			continue
		}
		begins = p.kind == ',' || p.kind == 'w' && isWord(l.Text[p.start:p.end], "select")
		switch p.kind {
		case '(':
			depth++
		case ')':
			depth--
		}
		if p.kind == 'w' {
			words = append(words, lower(string(l.Text[p.start:p.end])))
		}
	}
	return places, readsNoRows(words)
}

// follows reports whether only blanks separate the i-th piece from the previous one.
func (l *Lexed) follows(list []piece, i int) bool {
	return i > 0 && skipBlanks(l.Text, list[i-1].end) == list[i].start
}

// ends reports whether an item ends before the i-th piece, at a comma, at a word that isn't an alias, or at the end of
// the text.
func (l *Lexed) ends(list []piece, i int) bool {
	if i < len(list) {
		p := list[i]
		ended := p.kind == ',' || p.kind == 'w' && behindItems[lower(string(l.Text[p.start:p.end]))]
		return ended && l.follows(list, i)
	}
	return len(bytes.Trim(l.Text[list[i-1].end:], " \t\r\n;")) == 0
}

// nextValue reads the pieces of a call that begins at the i-th. It returns its name and the index of the piece behind
// it.
func (l *Lexed) nextValue(list []piece, i int) (name string, next int) {
	at := list[i].start
	if list[i].kind != 'w' || at > 0 && (l.Text[at-1] == '.' || l.Text[at-1] == '@') {
		return "", 0
	}
	kinds := func(n int) (s string) {
		for _, p := range list[i:min(i+n, len(list))] {
			s += string(p.kind)
		}
		return s
	}
	is := func(n int, word string) bool { return isWord(l.Text[list[i+n].start:list[i+n].end], word) }
	switch k := kinds(4); {
	case is(0, "nextval") && (k == "w(w)" || k == "w(`)"):
		name, next = l.pieceName(list[i+2]), i+4
	case is(0, "next") && (k == "wwww" || k == "www`") && is(1, "value") && is(2, "for"):
		name, next = l.pieceName(list[i+3]), i+4
	}
	if next < len(list) && list[next].kind == '.' { // the name was qualified with a database
		return "", 0
	}
	return name, next
}

// pieceName returns a name without quotes.
func (l *Lexed) pieceName(p piece) string {
	text := string(l.Text[p.start:p.end])
	if p.kind != '`' {
		return text
	}
	quote := text[:1]
	return strings.ReplaceAll(text[1:len(text)-1], quote+quote, quote)
}

// readsNoRows reports, based on a statement's words, that none of its expressions is computed for rows. DUAL has one
// row.
func readsNoRows(words []string) bool {
	if len(words) == 0 || !firstOfNoRows[words[0]] {
		return false
	}
	for i, w := range words[1:] {
		if ofRows[w] && !(w == "from" && slices.Equal(words[i+2:min(i+3, len(words))], []string{"dual"})) {
			return false
		}
	}
	return true
}

var (
	firstOfNoRows = set("select set do insert replace")
	behindItems   = set("from limit into where having order")
	ofRows        = set("from select update delete with table call begin")
)

// mentionsNext returns false for nearly all texts at little cost.
func mentionsNext(text []byte) bool {
	for {
		i := bytes.IndexAny(text, "nN")
		if i < 0 || i+4 > len(text) {
			return false
		}
		if bytes.EqualFold(text[i:i+4], []byte("next")) {
			return true
		}
		text = text[i+1:]
	}
}
