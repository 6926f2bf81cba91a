package stmt

import (
	"bytes"
	"strings"
)

// own reports whether a token can be the schema locus. within: it is the current schema, so that any name can be in it.
func (u units) own(verb int, within bool) bool {
	if within && len(u) > 0 && !nameless[u.keyword(verb)] {
		return true
	}
	s := surroundings{u: u, defines: u.is(verb, "create", "alter"), open: []clause{{}}}
	for i := range u {
		if u[i].word == Own && u.at(i-1).char != '.' && (u.qualifies(i) && !s.alias(i) || u.ofDatabase(i-1)) {
			return true
		}
		s.pass(i)
	}
	return false
}

// nameless are verbs of statements that name nothing in a schema.
var nameless = set("xa signal resignal get")

// qualifies reports whether a point follows. Servers read .1a as a point and a name.
func (u units) qualifies(i int) bool {
	next := u.at(i + 1)
	return next.char == '.' || bytes.HasPrefix(next.literal, []byte{'.'})
}

// ofDatabase reports whether the words up to i precede the name of a database.
func (u units) ofDatabase(i int) bool {
	if u.is(i, "exists") {
		if i--; u.is(i, "not") {
			i--
		}
		i-- // IF
	}
	return u.is(i, "database", "schema")
}

// surroundings distinguish expressions from table names, in one pass over the tokens.
type surroundings struct {
	u       units
	defines bool     // CREATE or ALTER
	open    []clause // one clause for the statement, and one for each open parenthesis
}

// clause is the part before a token within one pair of parentheses.
type clause struct {
	word     string // the last word that a list follows; empty if there is none
	encloses bool   // the parentheses enclose expressions
	joins    bool   // ON would be the condition of a join
}

// pass advances the surroundings beyond token i.
func (s *surroundings) pass(i int) {
	top := &s.open[len(s.open)-1]
	switch x := s.u[i]; {
	case x.char == '(':
		s.open = append(s.open, clause{encloses: s.encloses(i - 1)})
	case x.char == ')' && len(s.open) > 1:
		s.open = s.open[:len(s.open)-1]
	case x.char == ';':
		s.open = append(s.open[:0], clause{})
	case !x.bare:
	case x.word == "join" || x.word == "straight_join":
		top.word, top.joins = x.word, true
	case lists[x.word]:
		top.word = x.word
		top.joins = top.joins && x.word != "from"
	case x.word == "trigger" || x.word == "index":
		top.joins = false
	}
}

// lists are words that a list follows: of expressions, or of tables.
var lists = set("select by set returning from into update table tables to delete using values where having view procedure function references ignore of")

// alias reports whether locus, at i, is an alias. It is one if servers accept an expression there and no table's name, and if
// a column and nothing else follows it.
func (s *surroundings) alias(i int) bool {
	next := s.u.at(i + 3).char
	return s.u.at(i+1).char == '.' && next != '.' && next != '(' && s.expression(i-1)
}

// expression reports whether an expression may follow token i, and no table's name.
func (s *surroundings) expression(i int) bool {
	x, top := s.u.at(i), s.open[len(s.open)-1]
	switch {
	case x.char == 0 && !x.bare:
		return false
	case x.char == ',' && top.word != "":
		return top.word == "select" || top.word == "by" || top.word == "set" || top.word == "returning"
	case x.char == ',', x.char == '(':
		return top.encloses
	case x.char != 0:
		return strings.IndexByte("=<>+-*/%|&^!~", x.char) >= 0
	case x.word == "on":
		return top.joins
	case x.word == "like":
		return !s.defines
	}
	return expressions[x.word]
}

// expressions are words that an expression follows, and never a table's name.
var expressions = set("select distinct where and or xor not having by case when then else between div mod regexp rlike interval set return in")

// encloses reports whether a parenthesis behind token i would enclose expressions.
func (s *surroundings) encloses(i int) bool {
	x := s.u.at(i)
	switch {
	case x.char == '=' && s.u.is(i-1, "union"): // tables of a MERGE
		return false
	case x.bare && (aggregating[x.word] || Computes(x.word)):
		return true
	}
	return s.expression(i)
}

// aggregating are functions that Computes does not list.
var aggregating = set("json_table count sum min max avg group_concat json_arrayagg json_objectagg std stddev variance bit_and bit_or bit_xor if ifnull coalesce")
