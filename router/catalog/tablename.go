package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TableName is the name of a table and its schema (MySQL's word for a database). Names are compared as on a Linux server: letter case counts.
type TableName struct{ Schema, Name string }

func (n TableName) lower() TableName {
	return TableName{strings.ToLower(n.Schema), strings.ToLower(n.Name)}
}

// Compare orders names by schema, then by the table's name.
func (n TableName) Compare(other TableName) int {
	return cmp.Or(strings.Compare(n.Schema, other.Schema), strings.Compare(n.Name, other.Name))
}

// special contains the characters that an unquoted part of a name can't have.
const special = "`' \t\n/"

// String returns the name in the form that [ParseTableName] parses, such as shop.orders. Both parts are in backquotes if one of them contains
// characters that need them. Different names have different texts.
func (n TableName) String() string {
	if n.Schema != "" && n.Name != "" && (strings.Contains(n.Schema, ".") || strings.ContainsAny(n.Schema+n.Name, special)) {
		return n.quoted()
	}
	return n.Schema + "." + n.Name
}

func (n TableName) quoted() string { return Backquote(n.Schema) + "." + Backquote(n.Name) }

// SQL returns the name as it is written in statements, with backquotes where they are needed. A reserved word after a dot
// needs none.
func (n TableName) SQL() string {
	plain := func(part string) bool {
		return part != "" && !unicode.IsDigit(rune(part[0])) && strings.TrimFunc(part, func(r rune) bool {
			return r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
		}) == ""
	}
	if plain(n.Schema) && plain(n.Name) {
		return n.Schema + "." + n.Name
	}
	return n.quoted()
}

// Backquote returns a name in backquotes.
func Backquote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// ParseTableName parses schema.table. Each part may be in backquotes, within which a backquote is doubled. A schema without backquotes ends at
// the first dot.
func ParseTableName(s string) (TableName, error) {
	schema, rest, ok := tablePart(s, ".")
	var name string
	if ok = ok && strings.HasPrefix(rest, "."); ok {
		name, rest, ok = tablePart(rest[1:], "")
	}
	if !ok || rest != "" {
		return TableName{}, fmt.Errorf("table name %q: write it as schema.table, with other characters in backquotes: `my schema`.`my table`", s)
	}
	return TableName{schema, name}, nil
}

// tablePart returns a part of a name up to its closing backquote, or up to the first of the characters in end.
func tablePart(s, end string) (part, rest string, ok bool) {
	if strings.HasPrefix(s, "`") {
		return unquote(s[1:])
	}
	part = s
	if at := strings.IndexAny(s, end); at >= 0 {
		part, rest = s[:at], s[at:]
	}
	return part, rest, part != "" && !strings.ContainsAny(part, special)
}

// unquote returns the name at the beginning of a text that follows an opening backquote, and the rest behind the closing one.
func unquote(s string) (name, rest string, ok bool) {
	var text strings.Builder
	for {
		at := strings.IndexByte(s, '`')
		if at < 0 {
			return "", "", false
		}
		text.WriteString(s[:at])
		if s = s[at+1:]; !strings.HasPrefix(s, "`") {
			return text.String(), s, text.Len() > 0
		}
		text.WriteByte('`')
		s = s[1:]
	}
}

// Key returns the name as a part of an etcd key, which contains no slash. It is String, with slashes, percent signs, spaces, tabs and newlines
// of a quoted name in percent encoding.
func (n TableName) Key() string {
	text := n.String()
	if strings.Contains(text, "`") {
		return keyEscapes.Replace(text)
	}
	return text
}

var keyEscapes = strings.NewReplacer("%", "%25", "/", "%2F", " ", "%20", "\n", "%0A", "\t", "%09")

// ParseTableKey parses a result of [TableName.Key]. It refuses all other texts, so that no two keys denote one table.
func ParseTableKey(key string) (TableName, error) {
	text := key
	if strings.Contains(key, "`") {
		var err error
		if text, err = url.PathUnescape(key); err != nil {
			return TableName{}, fmt.Errorf("table name %q: %w", key, err)
		}
	}
	name, err := ParseTableName(text)
	if err == nil && name.Key() != key {
		err = fmt.Errorf("table name %q: the key of this table ends with %q", key, name.Key())
	}
	return name, err
}

// longestName is the longest name of a table or schema that servers accept, in characters.
const longestName = 64

// Validate returns why a table of this name can't be declared, or nil.
func (n TableName) Validate() error {
	if err := validName(n.Schema); err != nil {
		return fmt.Errorf("schema name %q %w", n.Schema, err)
	}
	if err := validName(n.Name); err != nil {
		return fmt.Errorf("table name %q %w", n.Name, err)
	}
	return nil
}

// validName returns why a name of a table, schema or column can't be declared, or nil.
func validName(name string) error {
	switch {
	case !utf8.ValidString(name):
		return errors.New("is no valid UTF-8: choose another name")
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("has a control character, such as a line break: choose another name")
	case utf8.RuneCountInString(name) > longestName:
		return fmt.Errorf("is longer than the %d characters that servers accept", longestName)
	case name != strings.TrimRight(name, " "):
		return errors.New("ends with a space, which servers don't accept")
	}
	return nil
}
