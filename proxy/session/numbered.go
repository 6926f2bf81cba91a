package session

import (
	"context"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/cluster"
	"locus/router/stmt"
)

// Generators make numbers, or texts, by the name that they are declared under.
type Generators interface {
	// Literals gives n of a generator's numbers or texts, as SQL spells them.
	Literals(ctx context.Context, declared map[string]cluster.Generator, name string, n int) ([]string, error)
}

// numberedText is the statement with each call of a declared generator, NEXT
// VALUE FOR name or NEXTVAL(name), replaced by a number; ok if there was one.
// Names that are not declared are the server's sequences and stay.
func (s *Session) numberedText(w *World, text []byte) (numbered []byte, ok bool, err error) {
	if s.Generators == nil || len(w.Generators) == 0 {
		return nil, false, nil
	}
	calls, words := findCalls(string(text), func(name string) bool { _, known := w.Generators[name]; return known })
	if len(calls) == 0 {
		return nil, false, nil
	}
	if !eachOnce(words) {
		return nil, false, fail(mysql.ER_NOT_SUPPORTED_YET, stateGeneral,
			"a generator's number in a statement that may need more than one for a place: use it in SELECT without FROM, SET, or VALUES of an INSERT; nothing was done")
	}
	for i := 0; i < len(calls); {
		same := 1 // calls of the same generator in a row are answered together
		for i+same < len(calls) && calls[i+same].name == calls[i].name {
			same++
		}
		numbers, err := s.Generators.Literals(s.stop.waits, w.Generators, calls[i].name, same)
		if err != nil {
			return nil, false, fail(mysql.ER_AUTOINC_READ_FAILED, stateGeneral, "%v: nothing was done", err)
		}
		for k := range same {
			calls[i+k].number = numbers[k]
		}
		i += same
	}
	return replaceCalls(string(text), calls), true, nil
}

// call is one place that asks for a number.
type call struct {
	name       string
	from, to   int
	number     string
	wholeField bool // SELECT has it alone: the column keeps its name
}

// eachOnce says that each place of the statement is looked at once: nothing in
// it is read from rows.
func eachOnce(words []string) bool {
	if len(words) == 0 {
		return false
	}
	for _, word := range words[1:] {
		switch word {
		case "FROM", "SELECT", "UPDATE", "DELETE", "WITH", "TABLE", "CALL", "BEGIN":
			return false
		}
	}
	switch words[0] {
	case "SELECT", "SET", "DO", "INSERT", "REPLACE":
		return true
	}
	return false
}

// findCalls finds calls outside of strings and comments, and the statement's
// other words, in upper case.
func findCalls(text string, declared func(string) bool) (calls []call, words []string) {
	for i := 0; i < len(text); {
		if next := skipQuoted(text, i); next > i {
			i = next
			continue
		}
		if !letter(text[i]) {
			i++
			continue
		}
		end := wordEnd(text, i)
		word := strings.ToUpper(text[i:end])
		if name, to := callAt(text, word, end); to > 0 && declared(name) && (i == 0 || text[i-1] != '.' && text[i-1] != '@') {
			alone := len(words) == 1 && words[0] == "SELECT" && strings.Trim(text[to:], " \t\r\n;") == "" && len(calls) == 0
			calls = append(calls, call{name: name, from: i, to: to, wholeField: alone})
			i = to
			continue
		}
		words = append(words, word)
		i = end
	}
	return calls, words
}

// callAt reads what follows NEXT or NEXTVAL: a call's name and end, or 0.
func callAt(text, word string, at int) (name string, end int) {
	switch word {
	case "NEXT":
		for _, expected := range []string{"VALUE", "FOR"} {
			at = skipSpace(text, at)
			to := wordEnd(text, at)
			if !strings.EqualFold(text[at:to], expected) {
				return "", 0
			}
			at = to
		}
		return nameAt(text, skipSpace(text, at))
	case "NEXTVAL":
		at = skipSpace(text, at)
		if at >= len(text) || text[at] != '(' {
			return "", 0
		}
		name, at = nameAt(text, skipSpace(text, at+1))
		if at = skipSpace(text, at); at >= len(text) || text[at] != ')' || name == "" {
			return "", 0
		}
		return name, at + 1
	}
	return "", 0
}

// nameAt reads a name, quoted or not. One with a database is a sequence's.
func nameAt(text string, at int) (string, int) {
	name, end := "", 0
	if at < len(text) && text[at] == '`' {
		if n := strings.IndexByte(text[at+1:], '`'); n >= 0 {
			name, end = text[at+1:at+1+n], at+n+2
		}
	} else if to := wordEnd(text, at); to > at {
		name, end = text[at:to], to
	}
	if end < len(text) && text[max(end, 0)] == '.' {
		return "", 0
	}
	return name, end
}

func letter(c byte) bool { return c == '_' || c == '$' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

func wordEnd(text string, at int) int {
	for at < len(text) && (letter(text[at]) || text[at] >= '0' && text[at] <= '9') {
		at++
	}
	return at
}

func skipSpace(text string, at int) int {
	for at < len(text) && strings.IndexByte(" \t\r\n", text[at]) >= 0 {
		at++
	}
	return at
}

// skipQuoted is the end of the string, quoted name or comment that begins at a
// place: the place itself if none does. An executable comment is read into.
func skipQuoted(text string, at int) int {
	rest := text[at:]
	until := func(mark string) int {
		if n := strings.Index(rest[2:], mark); n >= 0 {
			return at + 2 + n + len(mark)
		}
		return len(text)
	}
	switch {
	case rest[0] == '\'' || rest[0] == '"' || rest[0] == '`':
		for i := 1; i < len(rest); i++ {
			if rest[i] == '\\' && rest[0] != '`' {
				i++
			} else if rest[i] == rest[0] {
				return at + i + 1
			}
		}
		return len(text)
	case strings.HasPrefix(rest, "/*") && !strings.HasPrefix(rest, "/*!") && !strings.HasPrefix(rest, "/*M!"):
		return until("*/")
	case rest[0] == '#' || strings.HasPrefix(rest, "-- ") || strings.HasPrefix(rest, "--\n") || strings.HasPrefix(rest, "--\t"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return at + n + 1
		}
		return len(text)
	}
	return at
}

func replaceCalls(text string, calls []call) []byte {
	var b []byte
	at := 0
	for _, c := range calls {
		b = append(append(b, text[at:c.from]...), c.number...)
		if c.wholeField {
			b = append(b, " AS `"...)
			b = append(append(b, strings.ReplaceAll(text[c.from:c.to], "`", "``")...), '`')
		}
		at = c.to
	}
	return append(b, text[at:]...)
}

// mentionsNext is true for texts that may call a generator: those that are not
// in the cache of plans yet are looked at.
func mentionsNext(l *stmt.Lexed) bool {
	return containsFold(l.Text, "NEXT")
}

func containsFold(text []byte, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0]|0x20 && strings.EqualFold(string(text[i:i+len(word)]), word) {
			return true
		}
	}
	return false
}
