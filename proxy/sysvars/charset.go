package sysvars

import (
	"strings"

	"locus/proxy/backend"
	"locus/router/stmt"
)

const (
	characterSetClient     = "character_set_client"
	characterSetConnection = "character_set_connection"
	characterSetResults    = "character_set_results"
	collationConnection    = "collation_connection"
)

// charsets are the variables that the client is notified of after SET NAMES and SET CHARACTER SET.
var charsets = []string{characterSetClient, characterSetConnection, characterSetResults}

// readable contains the character sets in which every byte below 0x80 is the ASCII character, wherever it occurs. In none of them is such a byte
// the second byte of a letter, except for letters of euckr. The sets of both servers were checked. A set that a later server adds is refused
// until it is checked.
//
// The following sets are excluded. In gbk, gb18030, big5, sjis and cp932 the second byte of a letter may be a backslash or a backquote. swe7 has
// letters in place of @, [ and the backslash. No server accepts ucs2, utf16, utf16le and utf32 from clients.
var readable = set(`armscii8 ascii binary cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 dec8 eucjpms euckr gb2312
	geostd8 greek hebrew hp8 keybcs2 koi8r koi8u latin1 latin2 latin5 latin7 macce macroman tis620 ujis utf8 utf8mb3 utf8mb4`)

// unreadable contains character sets of the servers that clients may not use. wideCharsets contains those that the servers accept from no client.
var (
	unreadable   = set("big5 cp932 gb18030 gbk sjis swe7")
	wideCharsets = set("ucs2 utf16 utf16le utf32")
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// Readable reports whether clients may use a character set.
func Readable(charset string) bool { return readable[charset] }

// clientCharset returns an error for a character set in which texts can't be parsed.
func clientCharset(name string) error {
	switch lower := strings.ToLower(name); {
	case readable[lower]:
		return nil
	case unreadable[lower]:
		return UnsafeCharset(name)
	}
	return unknownCharset("Unknown character set: '%s'", name)
}

// readingMode returns the mode in which texts in a character set are parsed.
func readingMode(charset string) stmt.Mode {
	switch charset {
	case "utf8mb4", "utf8mb3", "utf8":
		return 0
	case "binary":
		return stmt.NotUTF8 | stmt.RawNames
	}
	return stmt.NotUTF8
}

// UnsafeCharset returns the error of a client whose texts could not be parsed.
func UnsafeCharset(name string) error {
	return unknownCharset("character set %s: statements in it can't be read safely; use utf8mb4", name)
}

// utf8Charsets contains the character sets in which a text has the same bytes as in UTF-8. Owners are hashed in UTF-8.
var utf8Charsets = map[string]bool{"utf8mb4": true, "utf8mb3": true, "utf8": true, "ascii": true, "binary": true}

func takeNames(s *Set, v stmt.Variable) error {
	charset, collation := strings.ToLower(string(v.Value.Text)), v.Collation
	if charset == "" || charset == "default" {
		charset = "utf8mb4"
	}
	if err := clientCharset(charset); err != nil {
		return err
	}
	if collation != "" && !plainName(strings.ToLower(collation)) {
		return unknownCharset("Unknown character set: '%s'", charset)
	}
	s.Settings = s.Settings.WithNames(charset, collation)
	assignment := "NAMES " + charset
	if collation != "" {
		assignment += " COLLATE " + collation
	}
	s.addAssignment(assignment)
	return nil
}

// takeCharset runs SET CHARACTER SET, which sets the connection's collation to that of the database.
func takeCharset(s *Set, v stmt.Variable) error {
	charset := string(v.Value.Text)
	literal, err := s.charsetLiteral(characterSetClient, backend.Quote(charset), charset == "")
	if err != nil {
		return err
	}
	collation, err := s.state.Compute(s.state.Settings, "@@collation_database")
	if err != nil {
		return err
	}
	s.Settings = s.Settings.With(characterSetClient, literal).With(characterSetResults, literal).With(collationConnection, collation)
	s.addAssignment("CHARACTER SET " + literal)
	return nil
}

// setCharsetVariable assigns the character set of the client's texts, or of their literals.
func setCharsetVariable(s *Set, v stmt.Variable, literal string) error {
	literal, err := s.charsetLiteral(v.Name, literal, literal == defaultValue)
	if err == nil {
		s.carry(v.Name, literal)
	}
	return err
}

// charsetLiteral returns the value for a character set variable, as a constant. The servers accept numbers too, and have their own defaults.
func (s *Set) charsetLiteral(variable, literal string, byDefault bool) (string, error) {
	switch {
	case byDefault:
		var err error
		if literal, err = s.state.Compute(s.state.Settings, "@@GLOBAL."+variable); err != nil {
			return "", err
		}
	case !strings.HasPrefix(literal, "'") && literal != "NULL":
		return "", unknownCharset("Unknown character set: '%s': write its name", literal)
	}
	name := strings.ToLower(unquote(literal))
	if variable == characterSetConnection && (wideCharsets[name] || literal == "NULL") { // clients send no text in this character set
		return literal, nil
	}
	return literal, clientCharset(name)
}

// collated adds to a text the character set and collation that it had where the client wrote it. So a user variable keeps them on every
// connection. Otherwise the server would use those that the connection had before it got the settings.
func collated(literal string, settings *backend.Settings) string {
	charset, collation := settings.Names()
	switch {
	case strings.HasPrefix(literal, "'"):
		literal = "_" + charset + literal
	case !strings.HasPrefix(literal, "_utf8mb4"), charset != "utf8mb4":
		return literal
	}
	if collation != "" {
		literal += " COLLATE " + collation
	}
	return literal
}
