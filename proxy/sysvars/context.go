package sysvars

import (
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Context contains the values that a session passes to the templates of ID generators, by locus_context. It is immutable.
type Context struct {
	text   string // as it was set
	Values map[string]string
}

// longestContext limits the value that a session keeps, in bytes.
const longestContext = 1024

// readContext parses a value of locus_context. It is name=value&name=value, as in an HTTP request.
func readContext(literal string) (Context, error) {
	refuse := func(why string) (Context, error) {
		return Context{}, wrongValue("Variable 'locus_context' can't be set to the value of %s: %s",
			literal[:min(len(literal), longestContext)], why)
	}
	if literal == defaultValue {
		return Context{}, nil
	}
	text, ok := unquoted(literal)
	switch {
	case !ok:
		return refuse("write a text such as 'area=010&branch=6541'")
	case len(text) > longestContext:
		return refuse("it has more than 1024 bytes")
	case !utf8.ValidString(text):
		return refuse("it is not UTF-8: SET NAMES utf8mb4, or write %XX")
	case text == "":
		return Context{}, nil
	}
	pairs, err := url.ParseQuery(text)
	if err != nil {
		return refuse(err.Error() + ": write name=value&name=value, and %XX for & = + ; and %")
	}
	values := make(map[string]string, len(pairs))
	for name, list := range pairs {
		if name == "" || len(list) != 1 {
			return refuse("a name is missing, or is there twice: write name=value&name=value")
		}
		values[name] = list[0]
	}
	return Context{text, values}, nil
}

// unquoted returns the text of a constant that literal returned. ok is false for a constant that is no text.
func unquoted(literal string) (string, bool) {
	if digits, ok := strings.CutPrefix(literal, "_utf8mb4 X'"); ok {
		text, err := hex.DecodeString(strings.TrimSuffix(digits, "'"))
		return string(text), err == nil
	}
	if len(literal) < 2 || literal[0] != '\'' || literal[len(literal)-1] != '\'' {
		return "", false
	}
	return literal[1 : len(literal)-1], true
}
