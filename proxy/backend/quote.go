package backend

import (
	"encoding/hex"
	"strings"
)

// Quote writes a UTF-8 text as a literal that reads the same whatever sql_mode and character set are in force: plain ASCII
// between single quotes, anything else in hexadecimal with its character set named.
func Quote(text string) string {
	if strings.IndexFunc(text, needsHex) < 0 {
		return "'" + text + "'"
	}
	return "_utf8mb4 X'" + hex.EncodeToString([]byte(text)) + "'"
}

// needsHex: a backslash is an escape or not by sql_mode; beyond ASCII the character set decides.
func needsHex(r rune) bool { return r < ' ' || r > '~' || r == '\'' || r == '\\' }
