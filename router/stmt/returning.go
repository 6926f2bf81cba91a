package stmt

import (
	"errors"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// nodes parses the text. The parser doesn't support MariaDB's RETURNING, so its parts are parsed separately: the text
// before it as a statement, the text after it as the fields of a SELECT. It is searched for only if the text can't be
// parsed otherwise, since to MySQL the word is an ordinary name.
func nodes(l *Lexed) (node ast.StmtNode, fields *ast.SelectStmt, err error) {
	text := l.readable()
	if node, err = parsedTree(l, text); err == nil {
		return node, nil, nil
	}
	if _, large := errors.AsType[*SizeError](err); large {
		return nil, nil, err
	}
	at := l.returning()
	if at < 0 {
		return nil, nil, err
	}
	behind := at + len("returning")
	head, headErr := parsedTree(l, text[:at]+strings.Repeat(" ", len(text)-at))
	tail, tailErr := tree(l, strings.Repeat(" ", at)+"SELECT   "+text[behind:])
	if headErr != nil || tailErr != nil {
		return nil, nil, err
	}
	if fields, _ = tail.(*ast.SelectStmt); fields == nil || !onlyFields(fields) {
		return nil, nil, err
	}
	switch head.(type) {
	case *ast.InsertStmt, *ast.DeleteStmt:
		l.cut = at
		return head, fields, nil
	}
	return nil, nil, err
}

// parsedTree runs the parser. If the text has clauses that the parser supports only in another form, it runs
// the parser again on the changed text.
func parsedTree(l *Lexed, text string) (ast.StmtNode, error) {
	node, refused := tree(l, text)
	if _, syntax := errors.AsType[*SyntaxError](refused); !syntax {
		return node, refused
	}
	node, text, err := treeWithDialect(l, text, refused)
	if err == nil {
		return node, nil
	}
	for _, again := range []func(*Lexed, string, error) (ast.StmtNode, error){treeWithValueCalls, treeWithRowSources, treeWithColumnTypes, treeWithMedians} {
		if node, err := again(l, text, refused); err == nil {
			return node, nil
		}
	}
	return nil, refused
}

// returning returns the position of the last RETURNING outside of parentheses in an INSERT, REPLACE or DELETE, or -1.
func (l *Lexed) returning() int {
	scan := tokens{l: l}
	at := -1
	for first := true; ; first = false {
		t, ok := scan.next()
		switch {
		case !ok, first && !l.is(t, "insert") && !l.is(t, "replace") && !l.is(t, "delete"):
			return at
		case t.depth == 0 && !t.qualified && l.is(t, "returning"):
			at = t.start
		}
	}
}

// onlyFields reports whether a SELECT has only fields, and these read no other tables.
func onlyFields(n *ast.SelectStmt) bool {
	only := plainFields(true)
	n.Accept(&only)
	return bool(only) && n.From == nil && n.Where == nil && n.GroupBy == nil && n.Having == nil && n.OrderBy == nil && n.Limit == nil &&
		n.SelectIntoOpt == nil && n.LockInfo == nil && n.With == nil && !n.Distinct
}

type plainFields bool

func (p *plainFields) Enter(n ast.Node) (ast.Node, bool) {
	if _, nested := n.(*ast.SubqueryExpr); nested {
		*p = false
	}
	return n, false
}

func (p *plainFields) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// ReturnsAll reports whether RETURNING contains a star.
func (l *Lexed) ReturnsAll() bool {
	at := l.returning()
	return at >= 0 && slices.ContainsFunc(l.piecesFrom(at), func(p piece) bool { return p.kind == '*' })
}
