package stmt

import (
	"math"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// unreadTypes are types of columns that the parser doesn't support. The other contents of a CREATE TABLE don't
// depend on a column's type.
var unreadTypes = set(`geometry point linestring polygon multipoint multilinestring multipolygon geometrycollection geomcollection uuid inet4 inet6`)

// treeWithColumnTypes runs the parser on a CREATE TABLE after replacing the parts that the parser doesn't support: types by
// INT, MariaDB's PERSISTENT by STORED, SPATIAL KEY by KEY, DEFAULT (…) by CHECK (…), and other attributes and options by
// nothing. It returns the error refused if there are no such parts, or if the parser still doesn't support the text.
func treeWithColumnTypes(l *Lexed, text string, refused error) (ast.StmtNode, error) {
	if words := l.words(); len(words) == 0 || !l.is(words[0], "create") {
		return nil, refused
	}
	l.look(len(l.Text))
	d := definitions{lexemeReader: lexemeReader{l: l, list: l.lexemes(math.MaxInt)}, text: []byte(text)}
	if !d.begins() {
		return nil, refused
	}
	for len(d.list) > 0 && d.depth > 0 {
		d.step()
	}
	for len(d.list) > 0 {
		d.option()
		d.next()
	}
	if !d.found {
		return nil, refused
	}
	node, err := tree(l, string(d.text))
	if err != nil {
		return nil, refused
	}
	if _, ok := node.(*ast.CreateTableStmt); !ok {
		return nil, refused
	}
	if a := l.laid(); text == a.readable {
		a.readable = string(d.text)
	}
	return node, nil
}

// definitions reads the list of columns and keys of a CREATE TABLE.
type definitions struct {
	lexemeReader
	text   []byte
	depth  int
	words  int    // number of pieces of the current definition
	before lexeme // the piece before
	found  bool
}

// begins skips the head of a CREATE TABLE, up to the parenthesis that opens the list.
func (d *definitions) begins() bool {
	d.takes("create")
	d.takes("or", "replace")
	d.takes("temporary")
	if !d.takes("table") {
		return false
	}
	d.takes("if", "not", "exists")
	_, ok := d.table()
	if !ok || !d.takesChar('(') {
		return false
	}
	d.depth = 1
	return true
}

// step reads one piece.
func (d *definitions) step() {
	x := d.peek()
	direct := d.depth == 1
	switch {
	case direct && d.words == 1 && x.kind == bareWord && unreadTypes[lower(string(d.l.Text[x.start:x.end]))] && d.isType():
		d.put(x.start, x.end, "INT")
	case direct && d.before.char == ')' && d.at("persistent"):
		d.put(x.start, x.end, "STORED")
	case direct && d.words > 1 && d.at("invisible", "visible", "byte", "ascii", "unicode", "compressed", "ignored"):
		d.blanked()
		return
	case direct && d.words > 1 && d.at("not") && d.behind().at("ignored"):
		d.put(x.start, x.end, "")
	case direct && d.words > 1 && d.at("default") && d.behind().peek().char == '(':
		d.put(x.start, x.end, "CHECK")
	case direct && d.words > 1 && d.is("srid", "ref_system_id"):
		d.reference()
		return
	case direct && d.words == 0 && d.at("spatial"):
		d.key()
	}
	d.take()
}

// behind returns a reader of the text after the next piece.
func (d *definitions) behind() *lexemeReader { return &lexemeReader{l: d.l, list: d.list[1:]} }

// blanked blanks an attribute, with its value if there is one.
func (d *definitions) blanked() {
	start, end := d.peek().start, d.peek().end
	d.take()
	if d.peek().char == '=' {
		d.take()
		end = d.peek().end
		d.take()
	}
	d.put(start, end, "")
}

// option blanks an option of the table that the parser doesn't support.
func (d *definitions) option() {
	x, value := d.peek(), d.behind()
	equals := value.takesChar('=')
	switch v := value.peek(); {
	case d.is("encrypted", "encryption_key_id") && equals:
		d.put(x.start, v.end, "")
	case d.at("charset") && value.at("default"):
		d.put(x.start, v.end, "")
	}
}

// take skips one piece.
func (d *definitions) take() {
	x := d.next()
	switch x.char {
	case '(':
		d.depth++
	case ')':
		d.depth--
	}
	if d.words++; d.depth == 1 && x.char == ',' {
		d.words = 0
	}
	d.before = x
}

// isType reports whether the second word of a definition is a type, rather than a key's name.
func (d *definitions) isType() bool {
	after := lexemeReader{l: d.l, list: d.list[1:]}
	first := lexemeReader{l: d.l, list: []lexeme{d.before}}
	return !first.at("key", "index", "unique", "fulltext", "spatial", "primary", "constraint", "check", "foreign", "period", "like") && after.peek().char != '('
}

// is is at for words with underscores.
func (d *definitions) is(words ...string) bool {
	x := d.peek()
	return x.kind == bareWord && slices.Contains(words, lower(string(d.l.Text[x.start:x.end])))
}

// key makes SPATIAL KEY a KEY.
func (d *definitions) key() {
	x, after := d.peek(), lexemeReader{l: d.l, list: d.list[1:]}
	if after.at("key", "index") {
		d.put(x.start, x.end, "")
		return
	}
	d.put(x.start, x.end, "KEY")
}

// reference blanks SRID n, or REF_SYSTEM_ID = n.
func (d *definitions) reference() {
	start := d.peek().start
	d.take()
	if d.peek().char == '=' {
		d.take()
	}
	if at := d.number(); at >= 0 {
		d.put(start, d.l.literalEnd(at), "")
	}
}

// put replaces a piece of the text by a shorter one.
func (d *definitions) put(start, end int, text string) {
	blank(d.text, int32(start), int32(end))
	copy(d.text[start:], text)
	d.found = true
}

// Versions reports whether a text that the parser doesn't support has MariaDB's SYSTEM VERSIONING.
func (l *Lexed) Versions() bool {
	for r := (lexemeReader{l: l, list: l.lexemes(math.MaxInt)}); len(r.list) > 0; r.next() {
		if r.takes("system", "versioning") {
			return true
		}
	}
	return false
}
