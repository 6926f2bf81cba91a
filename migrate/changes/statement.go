package changes

import (
	"strings"
	"unicode"

	"locus/migrate/table"
)

// statement is the part of a QueryEvent's text that a feed needs.
type statement struct {
	schema string // the default schema
	text   string
	words  []string // the statement's first words, in upper case
}

func read(schema, text string) statement {
	s := statement{schema: schema, text: strings.TrimSpace(text)}
	rest := s.text
	for strings.HasPrefix(rest, "/*") && !strings.HasPrefix(rest, "/*!") {
		_, after, ok := strings.Cut(rest, "*/")
		if !ok {
			break
		}
		rest = strings.TrimSpace(after)
	}
	if len(rest) > 200 {
		rest = rest[:200]
	}
	s.words = strings.Fields(strings.ToUpper(rest))
	return s
}

func (s statement) word(i int) string {
	if i < len(s.words) {
		return strings.Trim(s.words[i], ";")
	}
	return ""
}

// xid returns the branch's ID, which follows `XA START`, `XA COMMIT` and so on. Servers write it in the same way in all of
// these statements.
func (s statement) xid() string {
	return strings.Join(strings.Fields(s.text)[2:], " ")
}

// kind is the kind of a statement that a row-based log contains as text.
type kind uint8

const (
	harmless kind = iota
	schema        // changes tables
	writes        // changes rows
)

func (s statement) kind() kind {
	switch s.word(0) {
	case "ALTER", "DROP", "TRUNCATE", "RENAME":
		return schema
	case "CREATE":
		switch s.word(1) {
		case "INDEX", // a plain CREATE TABLE creates a table that didn't exist
			"UNIQUE", "FULLTEXT", "SPATIAL":
			return schema
		case "OR":
			if s.word(3) == "TABLE" {
				return schema
			}
		}
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "WITH", "CALL":
		return writes
	}
	return harmless
}

// mentions returns a watched table that the statement may concern. It may return an unrelated one but never misses one.
func (s statement) mentions(watched map[string]*table.Table) string {
	for name, t := range watched {
		inSchema := s.schema == t.Name.Schema || hasWord(s.text, t.Name.Schema)
		if inSchema && hasWord(s.text, t.Name.Name) {
			return name
		}
		if s.word(0) == "DROP" && (s.word(1) == "DATABASE" || s.word(1) == "SCHEMA") && hasWord(s.text, t.Name.Schema) {
			return name
		}
	}
	return ""
}

// hasWord ignores case, as some servers do for names.
func hasWord(text, word string) bool {
	text, word = strings.ToLower(text), strings.ToLower(word)
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		if !wordAt(text[:i], true) && !wordAt(text[i+len(word):], false) {
			return true
		}
		from = i + 1
	}
}

// wordAt reports whether text ends, or begins, with a character of a name.
func wordAt(text string, end bool) bool {
	runes := []rune(text[max(0, len(text)-4):])
	if !end {
		runes = []rune(text[:min(4, len(text))])
	}
	if len(runes) == 0 {
		return false
	}
	r := runes[0]
	if end {
		r = runes[len(runes)-1]
	}
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
