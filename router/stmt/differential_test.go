package stmt

import (
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// values collects the positions where the parser finds values.
type values struct {
	at    map[int]ast.ValueExpr
	limit int
}

func (v *values) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.Limit: // the parser doesn't record the positions of its numbers
		v.limit++
		if n.Offset != nil {
			v.limit++
		}
		return n, true
	case ast.ValueExpr:
		v.at[n.OriginTextPosition()] = n
	}
	return n, false
}

func (v *values) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// unseen are the literals of the corpus for which the parser keeps no value: an alias, the length of a type, the second half
// of a string, …
var unseen = map[string]int{
	"'alias'": 1, `"other"`: 1, // aliases
	"'b'": 2, "'d'": 1, // behind another string, and the name of a variable
	"10": 1, "'$.b'": 1, "'$.c'": 1, "', '": 1, "'2020-01-01'": 1, "'10:00:00'": 1, "'2020-01-01 10:00:00'": 1, "'2020-01-02'": 1,
}

// TestAgainstParser checks that the parser has the same value at every literal of the lexer, and that every value of the
// parser is a literal or a word of the lexer.
func TestAgainstParser(t *testing.T) {
	missing := map[string]int{}
	for _, text := range corpus {
		l := lexed(text, 0)
		node, err := tree(l, l.readable())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		switch node.(type) {
		case *ast.SelectStmt, *ast.SetOprStmt, *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt, *ast.DoStmt:
		default:
			continue
		}
		v := values{at: map[int]ast.ValueExpr{}}
		node.Accept(&v)
		r := &reader{l: l}
		for i, s := range l.Slots {
			literal := l.Literals[s.First]
			if literal.Kind == CommentLiteral {
				continue
			}
			theirs, ok := v.at[int(literal.Start)]
			if !ok {
				if v.limit == 0 || literal.Kind != IntLiteral && literal.Kind != ParamLiteral {
					missing[string(l.Text[literal.Start:literal.End])]++
				}
				v.limit--
				continue
			}
			if !r.agrees(theirs, s.First) && !r.stringFollows(literal.End) {
				t.Errorf("%s\nslot %d is %s here and %v to the parser", text, i, l.Text[literal.Start:literal.End], theirs.GetValue())
			}
			delete(v.at, int(literal.Start))
		}
		for at, value := range v.at {
			if at == 0 { // made by the parser itself
				continue
			}
			if class[text[at]] != wordByte && text[at] != '\'' {
				t.Errorf("%s\nthe parser sees %v at %q", text, value.GetValue(), text[at:])
			}
		}
	}
	for literal, n := range missing {
		if unseen[literal] != n {
			t.Errorf("the parser keeps no value of %s (%d times)", literal, n)
		}
	}
	for literal, n := range unseen {
		if missing[literal] != n {
			t.Errorf("%s is expected to be unseen %d times, was %d", literal, n, missing[literal])
		}
	}
}
