package stmt

import (
	"math"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// treeWithMedians runs the parser on a text in which LEAD replaces MariaDB's window functions: MEDIAN(x), and
// PERCENTILE_CONT(n) WITHIN GROUP (ORDER BY x), which becomes LEAD(n + x). The results don't depend on the name
// of the window function. It returns the error refused if there are none, or if the parser still doesn't
// support the text.
func treeWithMedians(l *Lexed, text string, refused error) (ast.StmtNode, error) {
	if lowered := lower(text); !strings.Contains(lowered, "median") && !strings.Contains(lowered, "percentile_") {
		return nil, refused
	}
	l.look(len(l.Text))
	s := rowSources{l: l, list: l.lexemes(math.MaxInt), text: []byte(text)}
	for i := range s.list {
		s.median(i)
	}
	if !s.found {
		return nil, refused
	}
	node, err := tree(l, string(s.text))
	if err != nil {
		return nil, refused
	}
	if a := l.laid(); text == a.readable {
		a.readable = string(s.text)
	}
	return node, nil
}

// median makes a call at i LEAD.
func (s *rowSources) median(i int) {
	name := s.word(i)
	if s.at(i+1).char != '(' || name != "median" && name != "percentile_cont" && name != "percentile_disc" {
		return
	}
	end := s.closing(i+1, nil, nil)
	if end > 0 && name != "median" {
		end = s.within(end)
	}
	if end == 0 || s.word(end+1) != "over" {
		return
	}
	blank(s.text, int32(s.at(i).start), int32(s.at(i).end))
	copy(s.text[s.at(i).start:], "LEAD")
	s.found = true
}

// within makes the text between n and x a plus sign, in PERCENTILE_CONT(n) WITHIN GROUP (ORDER BY x). It returns the index of the
// last parenthesis, or 0.
func (s *rowSources) within(close int) int {
	if s.word(close+1) != "within" || s.word(close+2) != "group" || s.at(close+3).char != '(' || s.word(close+4) != "order" || s.word(close+5) != "by" {
		return 0
	}
	end := s.closing(close+3, nil, nil)
	if end == 0 {
		return 0
	}
	blank(s.text, int32(s.at(close).start), int32(s.at(close+5).end))
	s.text[s.at(close).start] = '+'
	if last := s.word(end - 1); last == "asc" || last == "desc" {
		blank(s.text, int32(s.at(end-1).start), int32(s.at(end-1).end))
	}
	return end
}
