package stmt

import (
	"math"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// rowSources finds the sources of rows that the parser doesn't support in place of a table or query: MariaDB's
// VALUES (…), (…), JSON_TABLE, and a list of columns after a derived table's name. The parser reads a text
// of the same length in which VALUES is SELECT, JSON_TABLE(value, …) is (SELECT value), and the list of
// columns is blank. The columns of such a table are then not those that the tree shows.
type rowSources struct {
	l     *Lexed
	list  []lexeme
	text  []byte
	found bool
	// opaque are the aliases of tables with other columns than the tree shows. lateral are those of JSON_TABLE, whose value may
	// read the tables before it. Both are in lower case.
	opaque, lateral map[string]bool
}

// beforeQuery are words after which VALUES begins a query. beforeSource are words that a table follows.
var (
	beforeQuery  = set("union all distinct except intersect")
	beforeSource = set("from join lateral straight_join")
	noAlias      = set("from on using where group having order limit union except intersect window for lock left right inner cross natural join straight_join")
)

// treeWithRowSources runs the parser on the text with other row sources. It returns the error refused if there are none, or if the
// parser still doesn't support the text. Otherwise the readable text is changed.
func treeWithRowSources(l *Lexed, text string, refused error) (ast.StmtNode, error) {
	words := l.words()
	if len(words) == 0 || l.Text[words[0].start] != '(' && !limitable[lower(string(l.Text[words[0].start:words[0].end]))] {
		return nil, refused
	}
	l.look(len(l.Text))
	s := rowSources{l: l, list: l.lexemes(math.MaxInt), text: []byte(text), opaque: map[string]bool{}, lateral: map[string]bool{}}
	for i := range s.list {
		s.values(i)
		s.jsonTable(i)
		s.columns(i)
	}
	if !s.found {
		return nil, refused
	}
	node, err := tree(l, string(s.text))
	if err != nil {
		return nil, refused
	}
	a := l.laid()
	if a.opaque, a.lateral = s.opaque, s.lateral; text == a.readable {
		a.readable = string(s.text)
	}
	return node, nil
}

func (s *rowSources) at(i int) lexeme {
	if i < 0 || i >= len(s.list) {
		return lexeme{}
	}
	return s.list[i]
}

// word returns the word without quotes at i in lower case, or "".
func (s *rowSources) word(i int) string {
	if x := s.at(i); x.kind == bareWord && s.at(i-1).char != '.' {
		return lower(string(s.l.Text[x.start:x.end]))
	}
	return ""
}

// values makes VALUES a SELECT if it begins a query.
func (s *rowSources) values(i int) {
	if s.word(i) != "values" || s.at(i+1).char != '(' || s.at(i-1).char != '(' && !beforeQuery[s.word(i-1)] {
		return
	}
	if len(s.l.Rows) > 0 && s.at(i+1).start == int(s.l.Rows[0].Open) {
		return
	}
	copy(s.text[s.at(i).start:], "SELECT")
	s.found = true
}

// jsonTable makes JSON_TABLE(value, …) a derived table with the value as its field.
func (s *rowSources) jsonTable(i int) {
	if s.word(i) != "json_table" || s.at(i+1).char != '(' || !s.expected(i) {
		return
	}
	comma := 0
	end := s.closing(i+1, func(at int) bool { return s.at(at).char == ',' }, &comma)
	name, ok := s.alias(end + 1)
	if end == 0 || comma == 0 || !ok {
		return
	}
	blank(s.text, int32(s.at(i).start), int32(s.at(i+1).end))
	copy(s.text[s.at(i).start:], "(SELECT")
	blank(s.text, int32(s.at(comma).start), int32(s.at(end).start))
	s.opaque[name], s.lateral[name], s.found = true, true, true
}

// expected reports whether a table is allowed at i.
func (s *rowSources) expected(i int) bool {
	before := s.at(i - 1).char
	return beforeSource[s.word(i-1)] || before == ',' || before == '('
}

// columns blanks the list of columns behind a derived table's name.
func (s *rowSources) columns(i int) {
	if s.at(i).char != '(' || !s.expected(i) {
		return
	}
	switch s.word(i + 1) {
	case "select", "with", "values", "table":
	default:
		return
	}
	end := s.closing(i, nil, nil)
	name, ok := s.alias(end + 1)
	if end == 0 || !ok {
		return
	}
	open := end + 2
	if s.word(end+1) == "as" {
		open++
	} else if !beforeSource[s.word(i-1)] {
		return
	}
	last := s.closing(open, nil, nil)
	if s.at(open).char != '(' || last <= open+1 || slices.ContainsFunc(s.list[open+1:last], func(x lexeme) bool {
		return x.kind == literalLexeme || x.kind == punctuation && x.char != ','
	}) {
		return
	}
	blank(s.text, int32(s.at(open).start), int32(s.at(last).end))
	s.opaque[name], s.found = true, true
}

// closing returns the index of the parenthesis that closes the one at i, or 0. first is set to the first piece directly within them
// for which is returns true.
func (s *rowSources) closing(i int, is func(at int) bool, first *int) int {
	for depth, at := 0, i; at < len(s.list); at++ {
		switch s.at(at).char {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return at
			}
		}
		if is != nil && *first == 0 && depth == 1 && is(at) {
			*first = at
		}
	}
	return 0
}

// alias returns the alias at i, perhaps behind AS, in lower case.
func (s *rowSources) alias(i int) (name string, ok bool) {
	if s.word(i) == "as" {
		i++
	}
	x := s.at(i)
	switch {
	case x.kind != bareWord && x.kind != quotedWord, noAlias[s.word(i)]:
		return "", false
	}
	return lower(Unquoted(s.l.Text[x.start:x.end])), true
}
