package backend

import (
	"encoding/hex"
	"strings"
)

// Quote formats a UTF-8 text as a literal that has the same meaning under every sql_mode and character set. Printable ASCII is
// written in single quotes, and any other text as hexadecimal with a named character set.
func Quote(text string) string {
	if strings.IndexFunc(text, needsHex) < 0 {
		return "'" + text + "'"
	}
	return "_utf8mb4 X'" + hex.EncodeToString([]byte(text)) + "'"
}

// needsHex reports whether a character depends on the session: sql_mode decides if a backslash escapes, and the character
// set decides about all but ASCII.
func needsHex(r rune) bool { return r < ' ' || r > '~' || r == '\'' || r == '\\' }
