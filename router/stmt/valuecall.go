package stmt

import (
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// valueCalls finds MariaDB's VALUE(column) in ON DUPLICATE KEY UPDATE. It is VALUES(column) by its other name, which the
// parser doesn't support. To MySQL the word is an ordinary name.
func (l *Lexed) valueCalls() (at []int) {
	words := l.words()
	if len(words) == 0 || !l.is(words[0], "insert") {
		return nil
	}
	from := l.phrase("on", "duplicate", "key", "update")
	if from < 0 {
		return nil
	}
	for _, t := range l.wordsFrom(from) {
		if t.qualified || !l.is(t, "value") {
			continue
		}
		if open := l.behindBlanks(t.end); open < len(l.Text) && l.Text[open] == '(' {
			at = append(at, t.start)
		}
	}
	return at
}

// treeWithValueCalls runs the parser on a text with another function in the place of each VALUE(column), and replaces these
// calls in the tree. It returns an error if the tree contains them in other places than expected.
func treeWithValueCalls(l *Lexed, text string, refused error) (ast.StmtNode, error) {
	calls := l.valueCalls()
	if len(calls) == 0 {
		return nil, refused
	}
	stand := standIn(text, len("value"))
	with := []byte(text)
	for _, at := range calls {
		copy(with[at:], stand)
	}
	node, err := tree(l, string(with))
	if err != nil {
		return nil, refused
	}
	v := valueReplacer{name: stand}
	node.Accept(&v)
	if v.replaced != len(calls) || v.other {
		return nil, refused
	}
	return node, nil
}

// standIn returns a name of n letters that doesn't occur in a text.
func standIn(text string, n int) string {
	text = lower(text)
	for i := 0; ; i++ {
		if name := fmt.Sprintf("v%0*x", n-1, i); !strings.Contains(text, name) {
			return name
		}
	}
}

// valueReplacer replaces calls of a function by VALUES(column).
type valueReplacer struct {
	name     string
	replaced int
	other    bool // a call has other arguments than one column
}

func (v *valueReplacer) Enter(n ast.Node) (ast.Node, bool) {
	call, ok := n.(*ast.FuncCallExpr)
	if !ok || call.FnName.L != v.name {
		return n, false
	}
	if len(call.Args) == 1 {
		if c, is := call.Args[0].(*ast.ColumnNameExpr); is {
			v.replaced++
			return &ast.ValuesExpr{Column: c}, true
		}
	}
	v.other = true
	return n, true
}

func (v *valueReplacer) Leave(n ast.Node) (ast.Node, bool) { return n, true }
