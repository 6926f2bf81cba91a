package stmt

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Owned is a place in the text that refers to the session rather than to a server: a function without arguments
// ("connection_id()"), or a system variable ("@@version"). Name is in lower case and without a scope.
type Owned struct {
	Start, End int
	Name       string
	Global     bool // @@global.x
	Statement  bool // TABLE name
}

// Unnamed is a SELECT field without an alias. Its text is its column's name, so the text must become its alias if
// anything in it is replaced.
type Unnamed struct{ Start, End int }

// speakers are the functions that refer to the session.
var speakers = set(`version connection_id found_rows row_count user session_user system_user current_user last_insert_id release_all_locks`)

// ownFunction records a function that refers to the session. ownPlaces finds its place.
func (r *reader) ownFunction(n *ast.FuncCallExpr) {
	switch {
	case n.Schema.L != "":
	case speakers[n.FnName.L] && len(n.Args) == 0:
		r.owned++
	case n.FnName.L == usedLock:
		r.usesLock = true
	}
}

// usedLock returns the connection that holds a lock. To clients that is a session's ID. It is found if the lock's name
// is one string.
const usedLock = "is_used_lock"

// usedLockAt returns the end of a call that begins at start.
func (l *Lexed) usedLockAt(start int) (end int, ok bool) {
	open := l.behindBlanks(start + len(usedLock))
	if open >= len(l.Text) || l.Text[open] != '(' {
		return 0, false
	}
	name := l.behindBlanks(open + 1)
	if literal, ok := l.literalAt(name); ok && literal.Kind == StringLiteral {
		end = l.behindBlanks(int(literal.End))
		return end + 1, end < len(l.Text) && l.Text[end] == ')'
	}
	return 0, false
}

// ownField records a field whose text is its name.
func (r *reader) ownField(n *ast.SelectField) {
	if n.AsName.O != "" || n.Expr == nil {
		return
	}
	end := n.Offset + len(n.OriginalText())
	if c, plain := n.Expr.(*ast.ColumnNameExpr); !plain {
		r.out.Unnamed = append(r.out.Unnamed, Unnamed{n.Offset, end})
	} else if r.places != nil {
		r.places.Plain = append(r.places.Plain, PlainField{r.l.Anchor(end), c.Name.Name.O})
	}
}

// UnnamedFields returns the fields without an alias of all SELECTs in a statement. It returns none for a text that can't be read.
func UnnamedFields(l *Lexed) []Unnamed {
	node, _, err := nodes(l)
	if err != nil {
		return nil
	}
	var v unnamedCollector
	node.Accept(&v)
	return v.fields
}

type unnamedCollector struct{ fields []Unnamed }

func (v *unnamedCollector) Enter(n ast.Node) (ast.Node, bool) {
	if f, ok := n.(*ast.SelectField); ok && f.AsName.O == "" && f.Expr != nil {
		v.fields = append(v.fields, Unnamed{f.Offset, f.Offset + len(f.OriginalText())})
	}
	return n, false
}

func (v *unnamedCollector) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// ownPlaces finds the places of recorded functions and variables. Both readings must agree, or the statement is
// refused.
func (r *reader) ownPlaces() {
	switch r.out.Kind {
	case Select, Insert, Replace, Update, Delete, Set, Call:
	default:
		r.owned, r.usesLock = 0, false
	}
	if r.owned == 0 && !r.usesLock {
		r.out.Unnamed = nil
		return
	}
	r.ownTables()
	scan := tokens{l: r.l}
	for {
		t, ok := scan.next()
		if !ok {
			break
		}
		if o, ok := r.l.ownedAt(t); ok && !(r.out.Kind == Set && r.l.setTarget(t)) {
			r.out.Owned = append(r.out.Owned, o)
			if o.Name == usedLock+"()" { // if the name is written differently, the shard answers
				r.owned++
			}
		}
	}
	slices.SortFunc(r.out.Unnamed, func(a, b Unnamed) int { return a.End - b.End })
	slices.SortFunc(r.out.Owned, func(a, b Owned) int { return a.Start - b.Start })
	if len(r.out.Owned) != r.owned {
		r.fail("%d functions, variables and tables of the session where %d were expected", len(r.out.Owned), r.owned)
	}
}

// setTarget reports whether SET assigns to a variable: it follows the word SET or a comma.
func (l *Lexed) setTarget(t token) bool {
	before := bytes.TrimRight(l.Text[:t.start], " \t\r\n\f\v")
	return t.depth == 0 && (bytes.HasSuffix(before, []byte(",")) || len(before) > 2 && isWord(before[len(before)-3:], "set"))
}

func (l *Lexed) ownedAt(t token) (Owned, bool) {
	word := strings.ToLower(string(l.Text[t.start:t.end]))
	switch {
	case t.qualified:
		return Owned{}, false
	case strings.HasPrefix(word, "@@"):
		return l.ownedVariable(t, word[2:])
	case word == usedLock:
		end, ok := l.usedLockAt(t.start)
		return Owned{Start: t.start, End: end, Name: usedLock + "()"}, ok
	case !speakers[word]:
		return Owned{}, false
	}
	open := l.behindBlanks(t.end)
	if open < len(l.Text) && l.Text[open] == '(' {
		if end := l.behindBlanks(open + 1); end < len(l.Text) && l.Text[end] == ')' {
			return Owned{Start: t.start, End: end + 1, Name: word + "()"}, true
		}
		return Owned{}, false
	}
	return Owned{Start: t.start, End: t.end, Name: word + "()"}, word == "current_user"
}

// ownedVariable reads the text after @@: a scope and a point, then a name that may be quoted.
func (l *Lexed) ownedVariable(t token, name string) (Owned, bool) {
	o := Owned{Start: t.start, End: t.end}
	switch name {
	case "session", "local", "global", "persist", "persist_only":
		if t.end >= len(l.Text) || l.Text[t.end] != '.' {
			break
		}
		o.Global = name == "global"
		o.End++
		name = ""
	}
	if name == "" {
		name, o.End = nameAt(l.Text, o.End)
	}
	o.Name = "@@" + name
	return o, name != ""
}

// nameAt reads a name, perhaps in backquotes, and returns it in lower case.
func nameAt(text []byte, at int) (string, int) {
	end := wordEnd(text, at)
	if at < len(text) && text[at] == '`' {
		if end = quotedEnd(text, at, false); end < 0 {
			return "", at
		}
		return strings.ToLower(string(text[at+1 : end-1])), end
	}
	return strings.ToLower(string(text[at:end])), end
}

// behindBlanks skips blanks, comments and hints.
func (l *Lexed) behindBlanks(at int) int {
	for {
		at = skipBlanks(l.Text, at)
		literal, ok := l.literalAt(at)
		switch {
		case ok && literal.Kind == CommentLiteral && int(literal.End) > at:
			at = int(literal.End)
		default:
			end := l.hintEnd(at)
			if end == at {
				return at
			}
			at = end
		}
	}
}

// hintEnd returns the end of the hint that begins at at, or at if there is none.
func (l *Lexed) hintEnd(at int) int {
	i, ok := slices.BinarySearchFunc(l.asides, int32(at), func(a aside, at int32) int { return cmp.Compare(a.start, at) })
	if !ok {
		return at
	}
	return int(l.asides[i].end)
}

func skipBlanks(text []byte, at int) int {
	for at < len(text) && class[text[at]] == spaceByte {
		at++
	}
	return at
}

// quotedVariables reports whether a variable's name is a string, which the key doesn't contain.
func (l *Lexed) quotedVariables() bool {
	a := l.laid()
	if !a.quotedSought {
		a.quotedSought = true
		l.look(len(l.Literals))
		a.quoted = slices.ContainsFunc(l.Literals, func(literal Literal) bool {
			return literal.Kind == StringLiteral && literal.Start > 0 && l.Text[literal.Start-1] == '@'
		})
	}
	return a.quoted
}
