package session

import (
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// unsafeCharsets have letters whose second byte may be a backslash or a quote,
// so that a text can't be read without knowing where its letters begin.
var unsafeCharsets = map[string]bool{"gbk": true, "big5": true, "sjis": true, "cp932": true, "gb18030": true}

// Readable tells whether clients may use a character set.
func Readable(charset string) bool { return !unsafeCharsets[charset] }

func unsafeCharset(name string) error {
	return fail(mysql.ER_UNKNOWN_CHARACTER_SET, "42000", "character set %s: statements in it can't be read safely; use utf8mb4", name)
}

// utf8Charsets are those in which a text's bytes are those of UTF-8, which is
// what owners are hashed in.
var utf8Charsets = map[string]bool{"utf8mb4": true, "utf8mb3": true, "utf8": true, "ascii": true, "binary": true}

func assignNames(next *view, charset, collation string) error {
	charset = strings.ToLower(charset)
	if charset == "" || charset == "default" {
		charset = "utf8mb4"
	}
	if unsafeCharsets[charset] {
		return unsafeCharset(charset)
	}
	if !plainName(charset) || (collation != "" && !plainName(strings.ToLower(collation))) {
		return fail(mysql.ER_UNKNOWN_CHARACTER_SET, "42000", "Unknown character set: '%s'", charset)
	}
	next.settings = next.settings.WithNames(charset, collation)
	said := "NAMES " + charset
	if collation != "" {
		said += " COLLATE " + collation
	}
	next.say(said)
	return nil
}

// assignCharset is SET CHARACTER SET, which takes the connection's own character
// set from the database.
func (s *Session) assignCharset(next *view, v stmt.Variable) error {
	charset, literal := string(v.Value.Text), "DEFAULT"
	if unsafeCharsets[strings.ToLower(charset)] {
		return unsafeCharset(charset)
	}
	if charset != "" {
		literal = backend.Quote(charset)
	}
	collation, err := s.compute(s.settings, "@@collation_database")
	if err != nil {
		return err
	}
	next.settings = next.settings.With("character_set_client", literal).With("character_set_results", literal).
		With("collation_connection", collation)
	next.say("CHARACTER SET " + literal)
	return nil
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
