package stmt

import (
	"math"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// comment reads a table's comment. The last of several counts, as on servers.
func (r *reader) comment(options []*ast.TableOption) {
	for _, o := range options {
		if o.Tp == ast.TableOptionComment {
			text := o.StrValue
			r.out.Comment, r.out.Verbatim = &text, true
		}
	}
}

// DefinesTable reports whether a text that the parser can't read is a CREATE or ALTER TABLE, judging by its words.
func DefinesTable(l *Lexed) bool {
	r := lexemeReader{l: l, list: l.lexemes(math.MaxInt)}
	if verb := r.verb(); verb != "CREATE" && verb != "ALTER" {
		return false
	}
	for range 4 { // CREATE OR REPLACE TEMPORARY TABLE
		r.next()
		if r.at("table") {
			return true
		}
	}
	return false
}

// SaysInString reports whether a string of the text begins with a word, in any letter case, perhaps after blanks.
func (l *Lexed) SaysInString(word string) bool {
	for _, literal := range l.Literals {
		if !literal.isString() {
			continue
		}
		text := strings.TrimLeft(string(l.Text[literal.Start:literal.End]), "'\" \t\r\n")
		if len(text) >= len(word) && strings.EqualFold(text[:len(word)], word) {
			return true
		}
	}
	return false
}
