package stmt

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// set reads SET. A value other than a literal is kept as text, for a server to compute.
func (r *reader) set(n *ast.SetStmt) {
	if len(r.out.Assigns) > 0 {
		r.fail("a value of SET assigns @%s itself: assign that one before, in its place in the list", r.out.Assigns[0])
	}
	for _, a := range n.Variables {
		v := r.variable(a)
		v.NextOnly = v.NextOnly || r.l.secondWord("transaction")
		r.out.Variables = append(r.out.Variables, v)
	}
}

func (r *reader) variable(a *ast.VariableAssignment) Variable {
	v := Variable{Name: strings.ToLower(a.Name), User: !a.IsSystem, Global: a.IsGlobal || a.IsInstance}
	switch {
	case a.Name == ast.SetNames:
		v.Name, v.User = "names", false
	case a.Name == ast.SetCharset:
		v.Name, v.User = "charset", false
	case strings.HasSuffix(v.Name, "_one_shot"):
		v.Name, v.NextOnly = strings.TrimSuffix(v.Name, "_one_shot"), true
	}
	if a.ExtendValue != nil {
		v.Collation, _ = a.ExtendValue.GetValue().(string)
	}
	r.variableValue(&v, a.Value)
	if (v.Name == "names" || v.Name == "charset") && string(v.Value.Text) == "utf8" {
		if charset := r.l.namedCharset(); charset == "utf8mb3" { // utf8 need not be utf8mb3
			v.Value.Text = []byte(charset)
		}
	}
	return v
}

// namedCharset returns the character set of SET NAMES or SET CHARACTER SET as written, because the parser renames some.
func (l *Lexed) namedCharset() string {
	at := l.clause(0, "names", "charset", "character")
	if at < 0 {
		return ""
	}
	word, at := nameAt(l.Text, at)
	if at = l.behindBlanks(at); word == "character" {
		_, at = nameAt(l.Text, at)
		at = l.behindBlanks(at)
	}
	if at < len(l.Text) && (l.Text[at] == '\'' || l.Text[at] == '"') {
		at++
	}
	name, _ := nameAt(l.Text, at)
	return name
}

func (r *reader) variableValue(v *Variable, e ast.ExprNode) {
	switch n := e.(type) {
	case nil:
		v.Value = Value{Kind: Default}
		return
	case *ast.DefaultExpr:
		v.Value = Value{Kind: Default}
		return
	case *ast.ColumnNameExpr: // a plain word: SET sql_mode = ANSI
		v.Value = Value{Kind: String, Text: []byte(n.Name.Name.O)}
		return
	case ast.ValueExpr:
		if s, ok := n.GetValue().(string); ok {
			if v.User && r.foreign(e) {
				break // the meaning of its bytes depends on the session's character set
			}
			v.Value = Value{Kind: String, Text: []byte(s)}
			return
		}
		if n.GetValue() == nil {
			v.Value = Value{Kind: Null}
			return
		}
		if i, ok := n.GetValue().(int64); ok {
			v.Value = IntValue(i)
			return
		}
	}
	v.Expression = r.expressionText(e.OriginTextPosition())
}

// foreign reports whether a literal has bytes beyond ASCII, or its own character set. The parser did not see bytes that
// aren't UTF-8.
func (r *reader) foreign(e ast.ExprNode) bool {
	start := e.OriginTextPosition()
	literal, known := r.l.literalAt(start)
	return !known || literal.Kind == IntroducedLiteral || slices.ContainsFunc(r.l.Text[start:r.itemEnd(start)], func(c byte) bool { return c >= utf8.RuneSelf })
}

// expressionText returns the text of one item of a comma-separated list, without hints.
func (r *reader) expressionText(start int) string { return r.expressionWithin(start, r.l.end()) }

func (r *reader) expressionWithin(start, end int) string {
	var out []byte
	depth := 0
	for i := start; i < end; i++ {
		if lit, ok := r.l.literalAt(i); ok {
			if lit.Kind != CommentLiteral {
				out = append(out, r.l.Text[i:lit.End]...)
			}
			i = int(lit.End) - 1
			continue
		}
		if past, ok := r.l.asideAt(i); ok {
			i = past - 1
			continue
		}
		switch c := r.l.Text[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			return string(out)
		}
		out = append(out, r.l.Text[i])
	}
	return string(out)
}

// secondWord reports whether the text's second word is the given one. In SET TRANSACTION it means that the statement is
// for the next transaction only.
func (l *Lexed) secondWord(word string) bool {
	scan := tokens{l: l}
	_, _ = scan.next()
	t, ok := scan.next()
	return ok && l.is(t, word)
}
