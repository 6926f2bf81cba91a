package stmt

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

// Keeps reports whether a stored program or view may leave state on the connection that runs it. body is the
// body of a routine or trigger, or the query of a view. Keeps returns false only if the body certainly leaves
// none: it uses nothing of the session, and SET assigns only to columns of NEW and to the body's own variables.
// stored reports routines, by lower-case name, whose effects are considered elsewhere.
func Keeps(body string, mode Mode, stored func(name string) bool) bool {
	if bytes.ContainsRune([]byte(body), '@') || strings.Contains(body, "/*!") || strings.Contains(body, "/*M!") {
		return true
	}
	l := new(Lexed)
	l.Lex([]byte(body), mode)
	if l.Err != nil {
		return true
	}
	b := bodyReader{lexemeReader: lexemeReader{l: l, list: l.lexemes(math.MaxInt)}, stored: stored, begins: true}
	for len(b.list) > 0 {
		if b.keeps() {
			return true
		}
	}
	return false
}

// bodyReader reads a body lexeme by lexeme.
type bodyReader struct {
	lexemeReader
	stored   func(name string) bool
	begins   bool   // a statement begins here
	verb     string // first word of the current statement
	declared []string
	before   string // the previous word or character
}

// stateful are words for session state, and words that leave some.
var stateful = set(`get_lock release_lock release_all_locks temporary prepare execute deallocate immediate lock unlock use role start commit
	rollback savepoint release xa nextval lastval setval next previous last_insert_id session global local persist persist_only
	transaction password names charset profiling autocommit flush reset install uninstall`)

// beginning are words after which a statement begins.
var beginning = set("begin then else do loop repeat row deterministic")

func (b *bodyReader) keeps() bool {
	x := b.peek()
	if x.kind != bareWord && x.kind != quotedWord {
		b.next()
		b.before = string(b.l.Text[x.start:x.end])
		b.begins = b.before == ";" || b.before == ":"
		return false
	}
	word := Unquoted(b.l.Text[x.start:x.end])
	qualified := b.before == "."
	into := b.before == "into"
	b.next()
	b.before = word
	called := b.peek().kind == punctuation && b.peek().char == '('
	switch {
	case called && !into && (qualified || x.kind == quotedWord || !Computes(word) && !inBodies[word]):
		return !b.stored(word)
	case qualified, x.kind == quotedWord:
		return false
	case stateful[word], word == "handler" && b.verb != "declare":
		return true
	}
	if b.begins {
		b.verb = word
	}
	b.begins = beginning[word]
	switch {
	case word == "declare":
		b.declare()
	case word == "set" && b.verb != "update" && b.verb != "insert" && b.verb != "replace":
		return b.assigns()
	}
	return false
}

// inBodies are words that may precede a parenthesis without being a function call.
var inBodies = set(`exists select from where on by union into count sum min max avg group_concat json_arrayagg json_objectagg over any all some return
	if elseif until while when set int integer bigint smallint tinyint mediumint real bool boolean text blob json returns limit having join
	straight_join using except intersect bit_and bit_or bit_xor std stddev stddev_pop stddev_samp variance var_pop var_samp row rank
	dense_rank row_number lag lead ntile first_value last_value nth_value cume_dist percent_rank partition window distinct as key update`)

// declare records the names of a DECLARE.
func (b *bodyReader) declare() {
	for {
		name, ok := b.name()
		if !ok {
			return
		}
		b.declared = append(b.declared, strings.ToLower(name))
		if !b.takesChar(',') {
			return
		}
	}
}

// assigns reads the list of SET up to its first assignment, and looks for further ones.
func (b *bodyReader) assigns() bool {
	ahead := lexemeReader{l: b.l, list: b.list}
	for depth, target := 0, true; len(ahead.list) > 0; {
		if target && depth == 0 && !b.assignsOwn(&ahead) {
			return true
		}
		target = false
		switch x := ahead.next(); {
		case x.kind != punctuation:
		case x.char == '(':
			depth++
		case x.char == ')':
			depth--
		case x.char == ',':
			target = true
		case x.char == ';':
			return false
		}
	}
	return false
}

func (b *bodyReader) assignsOwn(ahead *lexemeReader) bool {
	if ahead.takes("new") {
		return ahead.takesChar('.')
	}
	name, ok := ahead.name()
	if next := ahead.peek(); !ok || next.kind != punctuation || next.char != '=' && next.char != ':' {
		return false
	}
	return slices.Contains(b.declared, strings.ToLower(name))
}
