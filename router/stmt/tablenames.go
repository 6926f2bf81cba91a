package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

func isAnd(e *ast.BinaryOperationExpr) bool { return e.Op == opcode.LogicAnd }

// span is a piece of the text.
type span struct{ start, end int }

// piece is a word, a quoted name, a comma, a point, a star or a parenthesis.
type piece struct {
	span
	kind byte // 'w', '`', or the character itself
}

// pieces lists the pieces of a text, with literals as '?', without comments and other characters.
func (l *Lexed) pieces() []piece {
	a := l.laid()
	if a.pieces == nil {
		l.look(len(l.Text))
		a.pieces = l.findPieces()
	}
	return a.pieces
}

func (l *Lexed) findPieces() []piece {
	out := []piece{}
	scan := tokens{l: l}
	for scan.pos < len(l.Text) {
		before := scan.pos
		if scan.skipLiteral() {
			if l.Literals[scan.literal-1].Kind != CommentLiteral {
				out = append(out, piece{span{before, scan.pos}, '?'})
			}
			continue
		}
		if scan.skipAside() {
			continue
		}
		c, end := l.Text[scan.pos], scan.pos+1
		switch {
		case class[c] == quoteByte:
			if end = quotedEnd(l.Text, scan.pos, false); end < 0 {
				return nil
			}
			out = append(out, piece{span{scan.pos, end}, '`'})
		case startsWord(c):
			end = wordEnd(l.Text, scan.pos)
			out = append(out, piece{span{scan.pos, end}, 'w'})
		case strings.IndexByte(",.()*", c) >= 0:
			out = append(out, piece{span{scan.pos, end}, c})
		}
		scan.pos = end
	}
	return out
}

// level is the state of one depth of parentheses.
type level struct {
	query  bool // it contains a SELECT
	from   bool // within its FROM clause
	expect bool // a table's name comes next
}

var endsFrom = set(`where group having order limit window for lock into procedure union intersect except select offset fetch`)

var notTables = set(`select lateral dual json_table values with`)

// tableNames finds the positions of table names. They are candidates until a second parse confirms them.
func (l *Lexed) tableNames() []span {
	list := l.pieces()
	levels := []level{{}}
	var out []span
	for i := 0; i < len(list); i++ {
		p := list[i]
		top := &levels[len(levels)-1]
		switch p.kind {
		case '(':
			inner := level{expect: top.expect, from: top.expect}
			top.expect = false // before the list grows, which invalidates top
			levels = append(levels, inner)
		case ')':
			if levels = levels[:len(levels)-1]; len(levels) == 0 {
				return nil
			}
		case ',':
			top.expect = top.from
		case '?':
			top.expect = false
		case '.', '*':
		default:
			word := string(l.Text[p.start:p.end])
			if top.expect && (p.kind == '`' || !notTables[lower(word)]) {
				s := p.span
				for i+2 < len(list) && list[i+1].kind == '.' && (list[i+2].kind == 'w' || list[i+2].kind == '`') {
					s.end = list[i+2].end
					i += 2
				}
				out, top.expect = append(out, s), false
				// Words in index hints begin no clauses.
				for hints, _ := l.indexHints(s.end); i+1 < len(list) && list[i+1].start < hints.end; {
					i++
				}
				continue
			}
			if p.kind == 'w' && (i == 0 || list[i-1].kind != '.') {
				l.tableWord(top, lower(word), i > 0 && list[i-1].kind == 'w' && l.is(token{start: list[i-1].start, end: list[i-1].end}, "select"))
			}
		}
	}
	return out
}

// tableWord tracks the clauses of a level. second reports whether SELECT precedes.
func (l *Lexed) tableWord(top *level, word string, second bool) {
	switch {
	case word == "dual", word == "json_table":
		top.expect = false
	case word == "values" && (top.expect || !top.query):
		*top = level{}
	case word == "select":
		*top = level{query: true}
	case word == "with" && !top.query:
		*top = level{}
	case word == "table" && !top.from:
		top.expect = true
	case word == "from" && top.query:
		top.from, top.expect = true, true
	case (word == "join" || word == "straight_join" && !second) && top.from:
		top.expect = true
	case endsFrom[word]:
		top.from, top.expect = false, false
	}
}

// conditionWords end a condition unless a parenthesis follows them.
var conditionWords = set(`and group having order limit window for lock into procedure returning union intersect except where join inner
	left right cross straight_join natural on using offset fetch`)

// conditionEnd finds the end of the condition that begins at start. The result is tentative until a second parse
// confirms it.
func (l *Lexed) conditionEnd(start int) int {
	depth, cases, between := 0, 0, 0
	list := l.pieces()
	first := len(list) - len(l.piecesFrom(start))
	end := start
	for i := first; i < len(list); i++ {
		p := list[i]
		l.look(1)
		switch p.kind {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return l.trimmed(start, p.start)
			}
		case ',':
			if depth == 0 {
				return l.trimmed(start, p.start)
			}
		case 'w':
			word := lower(string(l.Text[p.start:p.end]))
			if depth > 0 || i > 0 && list[i-1].kind == '.' {
				break
			}
			called := i+1 < len(list) && list[i+1].kind == '(' && (word == "left" || word == "right")
			switch {
			case word == "case":
				cases++
			case word == "end" && cases > 0:
				cases--
			case cases > 0:
			case word == "between":
				between++
			case word == "and" && between > 0:
				between--
			case conditionWords[word] && !called && p.start > start:
				return l.trimmed(start, p.start)
			}
		}
		end = p.end
	}
	return l.trimmed(start, max(end, l.end()))
}

// trimmed removes blanks and && from the end of a piece.
func (l *Lexed) trimmed(start, end int) int {
	for end > start && (class[l.Text[end-1]] == spaceByte || l.Text[end-1] == ';') {
		end--
	}
	return end
}
