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

// charsets are what SET NAMES and SET CHARACTER SET change, as clients are told.
var charsets = []string{characterSetClient, characterSetConnection, characterSetResults}

// readable are the character sets whose bytes below 0x80 are ASCII's wherever they
// stand: in no letter is such a byte the second one, but for letters of euckr. Both
// servers' sets were looked at; a set that a later server brings is refused until
// somebody has. Those that are left out: in gbk, gb18030, big5, sjis and cp932 a
// letter's second byte may be a backslash or a backquote; swe7 has letters in place
// of @, [ and the backslash; ucs2, utf16, utf16le and utf32 no server takes from
// clients.
var readable = set(`armscii8 ascii binary cp1250 cp1251 cp1256 cp1257 cp850 cp852 cp866 dec8 eucjpms euckr gb2312
	geostd8 greek hebrew hp8 keybcs2 koi8r koi8u latin1 latin2 latin5 latin7 macce macroman tis620 ujis utf8 utf8mb3 utf8mb4`)

// unreadable are sets that servers have, wideCharsets those that they take from no
// client.
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

// Readable tells whether clients may use a character set.
func Readable(charset string) bool { return readable[charset] }

// clientCharset refuses what texts can't be read in.
func clientCharset(name string) error {
	switch lower := strings.ToLower(name); {
	case readable[lower]:
		return nil
	case unreadable[lower]:
		return UnsafeCharset(name)
	}
	return unknownCharset("Unknown character set: '%s'", name)
}

// reading is how texts in a character set are read.
func reading(charset string) stmt.Mode {
	switch charset {
	case "utf8mb4", "utf8mb3", "utf8":
		return 0
	case "binary":
		return stmt.NotUTF8 | stmt.RawNames
	}
	return stmt.NotUTF8
}

// UnsafeCharset is the error of a client whose texts could not be read.
func UnsafeCharset(name string) error {
	return unknownCharset("character set %s: statements in it can't be read safely; use utf8mb4", name)
}

// utf8Charsets are those in which a text's bytes are those of UTF-8, which is
// what owners are hashed in.
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
	said := "NAMES " + charset
	if collation != "" {
		said += " COLLATE " + collation
	}
	s.say(said)
	return nil
}

// takeCharset is SET CHARACTER SET, which takes the connection's own character set from the database.
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
	s.say("CHARACTER SET " + literal)
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

// charsetLiteral gives the name of a character set that a variable is to have:
// servers take numbers too, and have defaults of their own.
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
	if variable == characterSetConnection && (wideCharsets[name] || literal == "NULL") { // no text is in it
		return literal, nil
	}
	return literal, clientCharset(name)
}

// collated gives a text the character set and collation that it has where the
// client wrote it: a user variable keeps them on every connection. Without them
// a server would take those that the connection had before it was brought over.
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
