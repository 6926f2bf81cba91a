package stmt

import (
	"math"
	"strings"
)

// Reach is the decision about a text that runs without a syntax tree: a text that the parser doesn't support, or the body of
// a stored program. It is derived from the tokens alone, and it is the only place that decides what such texts may do.
//
// The contract is one-sided. Where the tokens leave a doubt, the text counts as reaching further. A token is a word outside
// of strings and comments; the words of comments that servers execute were resolved before. So a text whose Reach is empty
// and that passes
//   - runs no dynamic SQL, at any depth of its blocks,
//   - changes no account, global variable, file, plugin or binary log, and no other server,
//   - names nothing in the schema locus.
//
// What it names otherwise is checked against the catalog elsewhere.
type Reach struct {
	// Passes reports whether the first words are those of a statement that touches only what it names.
	Passes bool
	// Dynamic is the word by which it runs a text of its own making. Server are the words by which it reaches the server rather
	// than tables, in upper case. Files is the table option by which rows are stored in files or servers that the text chooses,
	// or by an engine that does so. They are empty if there is none.
	Dynamic, Server, Files string
	// Own reports whether a token can be the schema locus.
	Own bool
}

// ProgramKind is the kind of a text that contains other statements.
type ProgramKind uint8

const (
	// NoProgram contains none.
	NoProgram ProgramKind = iota
	// Compound runs them at once: BEGIN NOT ATOMIC.
	Compound
	// Stored defines a routine, a trigger or a package.
	Stored
	// Scheduled defines an event.
	Scheduled
)

// Reach returns what the text reaches if it is judged by its tokens alone.
func (l *Lexed) Reach() (r Reach) {
	u := l.units()
	at := u.verb()
	program := u.program(at)
	r.Passes = u.passes(at)
	r.Server = u.outside()
	if program != NoProgram {
		u.body(&r)
	}
	r.Files = u.files(at, program)
	r.Own = u.own(at, l.withinOwn())
	return r
}

// Programs returns the kind of the text, if it contains other statements.
func (l *Lexed) Programs() ProgramKind {
	u := l.units()
	return u.program(u.verb())
}

// unit is one token: a word, a literal, or a character.
type unit struct {
	word    string // in lower case, without quotes
	bare    bool   // it is a word without quotes
	literal []byte // as written; nil if the token is no literal
	char    byte
}

type units []unit

// units returns the tokens of the whole text.
func (l *Lexed) units() units {
	list := l.lexemes(math.MaxInt)
	out := make(units, len(list))
	for i, x := range list {
		text := l.Text[x.start:x.end]
		switch x.kind {
		case bareWord, quotedWord:
			out[i] = unit{word: Unquoted(text), bare: x.kind == bareWord}
		case literalLexeme:
			out[i] = unit{literal: text}
		case punctuation, noLexeme:
			out[i] = unit{char: x.char}
		}
	}
	return out
}

// at returns a token. Outside of the text it returns an empty one.
func (u units) at(i int) unit {
	if i < 0 || i >= len(u) {
		return unit{}
	}
	return u[i]
}

// is reports whether a token is one of the words without quotes.
func (u units) is(i int, words ...string) bool {
	x := u.at(i)
	if !x.bare {
		return false
	}
	for _, w := range words {
		if x.word == w {
			return true
		}
	}
	return false
}

// keyword returns the word at i if it has no quotes.
func (u units) keyword(i int) string {
	if x := u.at(i); x.bare {
		return x.word
	}
	return ""
}

// verb returns the index of the word that names the statement, behind SET STATEMENT … FOR.
func (u units) verb() int {
	if u.is(0, "set") && u.is(1, "statement") {
		for i := 2; i < len(u); i++ {
			if u.is(i, "for") {
				return i + 1
			}
		}
	}
	return 0
}

// program classifies the text by the words from i on.
func (u units) program(i int) ProgramKind {
	if u.is(i, "begin") && u.is(i+1, "not") && u.is(i+2, "atomic") {
		return Compound
	}
	switch object, _ := u.object(i); object {
	case "procedure", "function", "trigger", "package":
		return Stored
	case "event":
		return Scheduled
	}
	return NoProgram
}

// modifiers may come between CREATE, ALTER or DROP and the object.
var modifiers = set("or replace aggregate temporary unique fulltext spatial vector online offline ignore")

// objects that statements may define, since they touch nothing else.
var definable = set("table tables view trigger function procedure package event sequence index database schema")

// object returns the kind of object of CREATE, ALTER or DROP, and the index behind that word. It is empty for other statements and
// for an unknown form.
func (u units) object(i int) (object string, next int) {
	if !u.is(i, "create", "alter", "drop") {
		return "", i
	}
	for i++; i < len(u); {
		switch word := u.keyword(i); {
		case modifiers[word]:
			i++
		case word == "algorithm":
			i += 3
		case word == "sql" && u.is(i+1, "security"):
			i += 3
		case word == "definer":
			i = u.definer(i + 1)
		default:
			return word, i + 1
		}
	}
	return "", i
}

// definer returns the index behind = user or role.
func (u units) definer(i int) int {
	if u.at(i).char == '=' {
		i++
	}
	i++                                               // the name
	if u.at(i).char == '(' && u.at(i+1).char == ')' { // CURRENT_USER()
		i += 2
	}
	if host := u.at(i); host.bare && strings.HasPrefix(host.word, "@") {
		i++
		if host.word == "@" {
			i++
		}
	}
	return i
}

// passes reports whether the words from i on begin a statement that touches only what it names.
func (u units) passes(i int) bool {
	if i >= len(u) {
		return true // no server supports this text
	}
	next := u.keyword(i + 1)
	table := next == "table" || next == "tables"
	switch verb := u.keyword(i); verb {
	case "create", "alter", "drop":
		object, _ := u.object(i)
		return definable[object]
	case "explain", "describe", "desc":
		return u.explains(i+1) || u.describes(i+1)
	case "analyze":
		return table || administers[next] || u.explains(i+1)
	case "check", "repair", "optimize":
		return table || next == "view" || administers[next] && u.is(i+2, "table", "tables", "view")
	case "checksum", "rename", "lock":
		return table
	case "begin":
		return u.program(i) == Compound
	case "load":
		return next == "xml"
	case "show":
		return u.shows(i + 1)
	default:
		return selfContained[verb] && u.at(i+1).char != ':' // a word before a colon would be a label
	}
}

var (
	// selfContained are first words of statements that reach the objects that they name, and no others.
	selfContained = set("select with table values insert replace update delete truncate do handler xa signal resignal call")
	administers   = set("local no_write_to_binlog")
	// browsable are the objects of databases, or facts about the server's authors, that SHOW lists.
	browsable = set(`package function procedure columns fields index indexes keys tables table databases schemas events triggers character collation
		engines storage warnings errors count authors contributors locales privileges open`)
)

// shows reports whether SHOW lists objects of a database.
func (u units) shows(i int) bool {
	for ; i < len(u); i++ {
		switch word := u.keyword(i); word {
		case "create":
			return definable[u.keyword(i+1)]
		case "full", "extended":
		default:
			return browsable[word]
		}
	}
	return false
}

// describes reports whether DESCRIBE is about a table, whose columns' names may be given by a pattern.
func (u units) describes(i int) bool {
	words := 0
	for ; i < len(u); i++ {
		if u.is(i, "for") {
			return false
		}
		if u[i].word != "" {
			words++
		}
	}
	return words > 0 && words <= 3
}

// explains reports whether EXPLAIN is about a statement, rather than another connection's.
func (u units) explains(i int) bool {
	words := 0
	for ; i < len(u) && words < 8; i++ {
		switch u.keyword(i) {
		case "for":
			return false
		case "select", "with", "table", "values", "insert", "replace", "update", "delete":
			return true
		case "":
		default:
			words++
		}
	}
	return false
}

// outside returns a word by which any text writes or reads the server's files, loads its code, or swaps a table's file.
func (u units) outside() string {
	for i := range u {
		switch word := u.keyword(i); {
		case u.at(i-1).char == '.':
		case word == "outfile", word == "dumpfile", word == "load_file", word == "soname":
			return strings.ToUpper(word)
		case (word == "import" || word == "discard") && u.is(i+1, "tablespace", "partition"):
			return strings.ToUpper(word) + " TABLESPACE"
		}
	}
	return ""
}
